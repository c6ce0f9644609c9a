#!/usr/bin/env bash
# Config::Simple 4.59 (Perl; Debian 12) reads a value of an INI file that has one apostrophe as empty, and a backslash away: "name = Ann's office" gives
# nothing, and C:\new is C:new. When the program then sets any other key and writes, the file has these values too, so a person's text is
# gone by a save that does not concern it. No error is raised. One would expect the text of the line. A text that was set by
# the program itself does not survive the next read either. Needs perl and apt-get; Debian only.
# usage: findings/config-simple-empties-a-value-with-an-apostrophe.sh
set -euo pipefail
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
for tool in perl dpkg-deb apt-get; do
    command -v "$tool" >/dev/null || { echo "skipped: $tool is missing"; exit 0; }
done
(cd "$folder" && apt-get download libconfig-simple-perl=4.59* >/dev/null 2>&1) || { echo "skipped: Config::Simple 4.59 cannot be installed"; exit 0; }
dpkg-deb -x "$folder"/libconfig-simple-perl_*.deb "$folder/package"

cat >"$folder/settings.ini" <<'SETTINGS'
[place]
name=Ann's office
path=C:\new
floor=2
SETTINGS
PERL5LIB="$folder/package/usr/share/perl5" perl -we '
    use strict;
    use Config::Simple;
    my $settings = Config::Simple->new($ARGV[0]) or die Config::Simple->error;
    print "name is \"", $settings->param("place.name") // "", "\", path is \"", $settings->param("place.path"), "\"\n";
    $settings->param("place.floor", 3);
    $settings->write or die;
' "$folder/settings.ini"
cat "$folder/settings.ini"
lines="$(grep -E '^(name|path|floor)=' "$folder/settings.ini" | sort | tr '\n' ' ')"
[ "$lines" = 'floor=3 name= path=C:new ' ]
