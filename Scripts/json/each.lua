-- Lets cjson or dkjson read or write. usage: lua5.1 each.lua LIBRARY read PATH … | LIBRARY write FOLDER PATH …
local library = require(arg[1])
local null = library.null

local function text(value)
    return '"s' .. value:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end) .. '"'
end

local function canonical(value)
    if value == nil or value == null then return "null" end
    if type(value) == "boolean" then return tostring(value) end
    if type(value) == "number" then return ('"x%.17g"'):format(value) end
    if type(value) == "string" then return text(value) end
    local parts, kind = {}, (getmetatable(value) or {}).__jsontype
    if kind == "array" or (kind == nil and (#value > 0 or next(value) == nil)) then
        for index, element in ipairs(value) do parts[index] = canonical(element) end
        return "[" .. table.concat(parts, ",") .. "]"
    end
    for key, element in pairs(value) do parts[#parts + 1] = text(key) .. ":" .. canonical(element) end
    return "{" .. table.concat(parts, ",") .. "}"
end

local function contents(path)
    local file = assert(io.open(path, "rb"))
    local all = file:read("*a")
    file:close()
    return all
end

local function decode(text)
    if arg[1] == "cjson" then return library.decode(text) end
    local value, _, message = library.decode(text, 1, null)
    if message then error(message) end
    return value
end

local first = arg[2] == "read" and 3 or 4
for index = first, #arg do
    local path = arg[index]
    if arg[2] == "read" then
        local isRead, line = pcall(function() return canonical(decode(contents(path))) end)
        print(isRead and line or "refused")
    else
        local value = decode(contents(path))
        local styles = { compact = library.encode(value) }
        if arg[1] == "dkjson" then styles.indented = library.encode(value, { indent = true }) end
        for style, written in pairs(styles) do
            local file = assert(io.open(arg[3] .. "/" .. path:match("([^/]*)%.json$") .. "-" .. style .. ".json", "wb"))
            file:write(written)
            file:close()
        end
    end
end
