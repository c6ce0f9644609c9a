# Reads a property list with CFPropertyList. Standard output: the form of its value, as in plain_form.py, or "error".
require "cfpropertylist"

def form(value)
  case value
  when true, false then value.to_s
  when Integer then "i#{value}"
  when Float then value.nan? ? "nan" : "f" + [value].pack("G").unpack1("H*")
  when CFPropertyList::Blob then "d" + value.unpack1("H*")
  when String then "s" + value.encode("UTF-8").unpack1("H*")
  when Array then "[" + value.map { |element| form(element) }.join(",") + "]"
  when Hash then "{" + value.map { |key, entry| form(key) + ":" + form(entry) }.sort.join(",") + "}"
  else raise value.class.to_s
  end
end

begin
  print form(CFPropertyList.native_types(CFPropertyList::List.new(data: STDIN.binmode.read).value))
rescue StandardError
  print "error"
end
