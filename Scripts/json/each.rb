# Lets a library of Ruby read or write. usage: ruby each.rb LIBRARY read PATH … | LIBRARY write FOLDER PATH …
require "json"
name, verb, *paths = ARGV
require name

def canonical(value)
  case value
  when nil, true, false then value
  when Integer then "i#{value}"
  when Float then "d" + [value].pack("G").unpack1("H*")
  when String, Symbol then "s" + value.to_s.unpack1("H*")
  when Array then value.map { |element| canonical(element) }
  when Hash then value.to_h { |key, element| [canonical(key), canonical(element)] }
  else defined?(BigDecimal) && value.is_a?(BigDecimal) ? "x#{value}" : "type #{value.class}"
  end
end

read = {
  "json" => ->(text) { JSON.parse(text) },
  "oj" => ->(text) { Oj.load(text, mode: :strict) },
  "yajl" => ->(text) { Yajl::Parser.parse(text) },
  "psych" => ->(text) { Psych.safe_load(text) },
}
write = {
  "json" => {
    "compact" => ->(value) { JSON.generate(value) },
    "pretty" => ->(value) { JSON.pretty_generate(value) },
    "ascii" => ->(value) { JSON.generate(value, ascii_only: true, script_safe: true, space: " ", space_before: " ", object_nl: "\n", indent: "\t") },
  },
  "oj" => {
    "compact" => ->(value) { Oj.dump(value, mode: :strict) },
    "spaces" => ->(value) { Oj.dump(value, mode: :strict, indent: 2, escape_mode: :ascii) },
    "generated" => ->(value) { Oj.generate(value, space: " ", object_nl: "\n", array_nl: "\n", indent: "  ") },
  },
  "yajl" => {
    "compact" => ->(value) { Yajl::Encoder.encode(value) },
    "pretty" => ->(value) { Yajl::Encoder.encode(value, pretty: true, indent: "\t") },
    "html" => ->(value) { Yajl::Encoder.encode(value, html_safe: true) },
  },
}
if verb == "read"
  paths.each do |path|
    puts JSON.generate(canonical(read[name].(File.read(path, encoding: "UTF-8"))), max_nesting: 0)
  rescue StandardError
    puts "refused"
  end
else
  folder, *paths = paths
  paths.each do |path|
    value = JSON.parse(File.read(path, encoding: "UTF-8"))
    write[name].each { |style, dump| File.write("#{folder}/#{File.basename(path, ".json")}-#{style}.json", dump.(value)) }
  end
end
