import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONObject;
import org.json.JSONTokener;

class Android implements Library {
    private static Object tree(Object value) throws Exception {
        if (value == JSONObject.NULL) return null;
        if (value instanceof JSONArray array) {
            List<Object> list = new ArrayList<>();
            for (int index = 0; index < array.length(); index++) list.add(tree(array.get(index)));
            return list;
        }
        if (!(value instanceof JSONObject)) return value;
        JSONObject object = (JSONObject) value;
        Map<String, Object> map = new LinkedHashMap<>();
        for (Iterator<String> keys = object.keys(); keys.hasNext();) {
            String key = keys.next();
            map.put(key, tree(object.get(key)));
        }
        return map;
    }

    public Object read(String text) throws Exception {
        return tree(new JSONTokener(text).nextValue());
    }

    public Map<String, String> write(String text) throws Exception {
        JSONObject object = new JSONObject(text);
        return Map.of("compact", object.toString(), "pretty", object.toString(3));
    }
}
