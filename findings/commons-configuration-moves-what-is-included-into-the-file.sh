#!/usr/bin/env bash
# commons-configuration2 2.8.0 (Java; Debian 12): a properties file may have a line "include = common.properties". After a program has loaded it, set one
# property and saved it, that line is gone, with the comment above it, and all properties of the included file stand in the main one. One
# would expect that the line stays, like all comments and the order of the other lines. From then on, no edit of common.properties
# has an effect, and no error says so: values that several programs shared are frozen in each of them. Needs java, javac and apt-get.
# usage: findings/commons-configuration-moves-what-is-included-into-the-file.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in java javac dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download libcommons-configuration2-java=2.8.0* libcommons-text-java libcommons-lang3-java libcommons-logging-java \
    libcommons-beanutils-java >/dev/null 2>&1) || { echo "skipped: commons-configuration2 2.8.0 cannot be installed"; exit 0; }
for package in "$folder"/*.deb; do dpkg-deb -x "$package" "$folder/package"; done
cat >"$folder/Save.java" <<'JAVA'
import java.io.File;
import org.apache.commons.configuration2.builder.fluent.Configurations;

class Save {
    public static void main(String[] paths) throws Exception {
        var builder = new Configurations().propertiesBuilder(new File(paths[0]));
        var settings = builder.getConfiguration();
        System.out.println("proxy is " + settings.getString("proxy"));
        settings.setProperty("size", Integer.parseInt(paths[1]));
        builder.save();
    }
}
JAVA
classes="$folder:$folder/package/usr/share/java/*"
javac -cp "$classes" -d "$folder" "$folder/Save.java"
save() { java -cp "$classes" Save "$folder/editor.properties" "$1" 2>/dev/null; }

printf '# shared by all programs\nproxy = one.example.org\n' >"$folder/common.properties"
printf '# the proxy is set there\ninclude = common.properties\n# points\nsize = 12\n' >"$folder/editor.properties"
first="$(save 14)"
cat "$folder/editor.properties"
printf '# shared by all programs\nproxy = two.example.org\n' >"$folder/common.properties"
second="$(save 15)"
echo "first: $first; after another proxy is set in common.properties: $second"
[ "$first $second" = "proxy is one.example.org proxy is one.example.org" ] && ! grep -q include "$folder/editor.properties" &&
    grep -q '^# points' "$folder/editor.properties"
