import java.util.Map;
import org.json.simple.Jsoner;

class Simple implements Library {
    public Object read(String text) throws Exception {
        return Jsoner.deserialize(text);
    }

    public Map<String, String> write(String text) throws Exception {
        String compact = Jsoner.serialize(read(text));
        return Map.of("compact", compact, "pretty", Jsoner.prettyPrint(compact));
    }
}
