# Lets a library of Perl read or write. usage: perl each.pl LIBRARY read PATH … | LIBRARY write FOLDER PATH …
use strict;
use warnings;
use B ();
use File::Basename qw(basename);

my ($name, $verb, @paths) = @ARGV;
(my $file = "$name.pm") =~ s{::}{/}g;
require $file;

sub canonical {
    my ($value) = @_;
    return "null" unless defined $value;
    return "[" . join(",", map { canonical($_) } @$value) . "]" if ref $value eq "ARRAY";
    return "{" . join(",", map { text($_) . ":" . canonical($value->{$_}) } keys %$value) . "}" if ref $value eq "HASH";
    return "\"x$value\"" if ref $value eq "Math::BigInt" || ref $value eq "Math::BigFloat";
    return $value ? "true" : "false" if ref $value;
    my $flags = B::svref_2object(\$value)->FLAGS;
    return text($value) if $flags & B::SVf_POK;
    return sprintf "\"d%s\"", unpack "H*", pack "d>", $value if $flags & B::SVf_NOK;
    return "\"i$value\"";
}

sub text {
    my ($text) = @_;
    utf8::encode($text);
    return '"s' . unpack("H*", $text) . '"';
}

sub contents {
    open my $file, "<:raw", $_[0] or die;
    local $/;
    return scalar <$file>;
}

my $isMojo = $name eq "Mojo::JSON";
my $decode = $isMojo ? \&Mojo::JSON::decode_json : sub { $name->new->utf8->decode($_[0]) };
if ($verb eq "read") {
    for my $path (@paths) {
        my $line = eval { canonical($decode->(contents($path))) };
        print defined $line ? "$line\n" : "refused\n";
    }
    exit;
}
my %styles = $isMojo ? (compact => \&Mojo::JSON::encode_json) : (
    compact => sub { $name->new->utf8->canonical->encode($_[0]) },
    pretty => sub { $name->new->utf8->pretty->encode($_[0]) },
    ascii => sub { $name->new->ascii->space_after->encode($_[0]) },
);
my $folder = shift @paths;
for my $path (@paths) {
    my $value = $decode->(contents($path));
    for my $style (keys %styles) {
        open my $file, ">:raw", "$folder/" . basename($path, ".json") . "-$style.json" or die;
        print $file $styles{$style}->($value);
        close $file or die;
    }
}
