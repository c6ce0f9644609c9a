import java.util.Map;
import net.minidev.json.JSONStyle;
import net.minidev.json.JSONValue;
import net.minidev.json.parser.JSONParser;

class Smart implements Library {
    public Object read(String text) throws Exception {
        return new JSONParser(JSONParser.MODE_RFC4627).parse(text);
    }

    public Map<String, String> write(String text) throws Exception {
        Object value = read(text);
        return Map.of("plain", JSONValue.toJSONString(value, JSONStyle.NO_COMPRESS), "safe", JSONValue.toJSONString(value,
            new JSONStyle(JSONStyle.FLAG_PROTECT_KEYS | JSONStyle.FLAG_PROTECT_VALUES)));
    }
}
