import java.util.Scanner;
import java.util.prefs.BackingStoreException;
import java.util.prefs.Preferences;

/** A program that stores texts with Java's Preferences; see client.py. */
class Client {
    public static void main(String[] arguments) {
        var lines = new Scanner(System.in);
        Preferences node = null;
        while (lines.hasNextLine()) {
            var words = lines.nextLine().split(" ");
            String answer;
            try {
                if (words[0].equals("version")) {
                    answer = System.getProperty("java.version");
                } else {
                    if (node == null) node = Preferences.userRoot().node("peers");
                    if (words[0].equals("set")) {
                        while (words.length > 3 && System.currentTimeMillis() < Long.parseLong(words[3])) Thread.onSpinWait();
                        node.put(words[1], words[2]);
                        node.flush();
                        answer = "ok";
                    } else {
                        answer = node.get(words[1], "default");
                    }
                }
            } catch (BackingStoreException | RuntimeException | Error error) {
                answer = "error: " + error.toString().replaceAll("\\s+", " ");
            }
            System.out.println(answer);
        }
    }
}
