import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.Map;

class Jackson implements Library {
    private final ObjectMapper mapper = new ObjectMapper();

    public Object read(String text) throws Exception {
        return mapper.readValue(text, Object.class);
    }

    public Map<String, String> write(String text) throws Exception {
        Object value = read(text);
        ObjectMapper ascii = JsonMapper.builder().enable(JsonWriteFeature.ESCAPE_NON_ASCII).build();
        return Map.of("compact", mapper.writeValueAsString(value), "pretty", mapper.writerWithDefaultPrettyPrinter().writeValueAsString(value),
            "ascii", ascii.writeValueAsString(value));
    }
}
