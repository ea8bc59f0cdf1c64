package io.coplane.cop.expr.regexp;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.IntPredicate;

/** Character classes by name, and simple case folding (expressions.md 9.2). Thread-safe. */
final class UnicodeProperties {
    private static final Map<String, CodePointSet> SETS = new ConcurrentHashMap<>();
    private static final Map<String, Integer> CATEGORIES = new HashMap<>();
    private static final Map<String, IntPredicate> BINARY = new HashMap<>();

    static {
        category(Character.UPPERCASE_LETTER, "lu", "uppercaseletter");
        category(Character.LOWERCASE_LETTER, "ll", "lowercaseletter");
        category(Character.TITLECASE_LETTER, "lt", "titlecaseletter");
        category(Character.MODIFIER_LETTER, "lm", "modifierletter");
        category(Character.OTHER_LETTER, "lo", "otherletter");
        category(Character.NON_SPACING_MARK, "mn", "nonspacingmark");
        category(Character.COMBINING_SPACING_MARK, "mc", "spacingmark");
        category(Character.ENCLOSING_MARK, "me", "enclosingmark");
        category(Character.DECIMAL_DIGIT_NUMBER, "nd", "decimalnumber", "digit");
        category(Character.LETTER_NUMBER, "nl", "letternumber");
        category(Character.OTHER_NUMBER, "no", "othernumber");
        category(Character.CONNECTOR_PUNCTUATION, "pc", "connectorpunctuation");
        category(Character.DASH_PUNCTUATION, "pd", "dashpunctuation");
        category(Character.START_PUNCTUATION, "ps", "openpunctuation");
        category(Character.END_PUNCTUATION, "pe", "closepunctuation");
        category(Character.INITIAL_QUOTE_PUNCTUATION, "pi", "initialpunctuation");
        category(Character.FINAL_QUOTE_PUNCTUATION, "pf", "finalpunctuation");
        category(Character.OTHER_PUNCTUATION, "po", "otherpunctuation");
        category(Character.MATH_SYMBOL, "sm", "mathsymbol");
        category(Character.CURRENCY_SYMBOL, "sc", "currencysymbol");
        category(Character.MODIFIER_SYMBOL, "sk", "modifiersymbol");
        category(Character.OTHER_SYMBOL, "so", "othersymbol");
        category(Character.SPACE_SEPARATOR, "zs", "spaceseparator");
        category(Character.LINE_SEPARATOR, "zl", "lineseparator");
        category(Character.PARAGRAPH_SEPARATOR, "zp", "paragraphseparator");
        category(Character.CONTROL, "cc", "control", "cntrl");
        category(Character.FORMAT, "cf", "format");
        category(Character.PRIVATE_USE, "co", "privateuse");
        category(Character.UNASSIGNED, "cn", "unassigned");
        BINARY.put("any", c -> true);
        BINARY.put("assigned", c -> Character.getType(c) != Character.UNASSIGNED);
        BINARY.put("ascii", c -> c < 0x80);
        binary(Character::isAlphabetic, "alphabetic", "alpha");
        binary(Character::isLowerCase, "lowercase", "lower");
        binary(Character::isUpperCase, "uppercase", "upper");
        binary(Character::isIdeographic, "ideographic", "ideo");
        binary(UnicodeProperties::isWhiteSpace, "whitespace", "wspace", "space");
        binary(Character::isEmoji, "emoji");
        binary(Character::isEmojiPresentation, "emojipresentation", "epres");
        binary(Character::isEmojiModifier, "emojimodifier", "emod");
        binary(Character::isEmojiModifierBase, "emojimodifierbase", "ebase");
        binary(Character::isEmojiComponent, "emojicomponent", "ecomp");
        binary(Character::isExtendedPictographic, "extendedpictographic", "extpict");
        binary(c -> c == 0x200c || c == 0x200d, "joincontrol", "joinc");
        binary(c -> c < 0x80 && Character.digit(c, 16) >= 0, "asciihexdigit", "ahex");
        binary(c -> Character.digit(c, 16) >= 0 && (c < 0x80 || c >= 0xff10 && c <= 0xff46), "hexdigit", "hex");
        binary(Character::isUnicodeIdentifierStart, "idstart", "ids");
        binary(Character::isUnicodeIdentifierPart, "idcontinue", "idc");
        binary(c -> Character.toLowerCase(c) != c || Character.toUpperCase(c) != c, "changeswhencasemapped", "cwcm");
    }

    private UnicodeProperties() {}

    private static void category(int type, String... names) {
        for (String name : names) {
            CATEGORIES.put(name, 1 << type);
        }
    }

    private static void binary(IntPredicate property, String... names) {
        for (String name : names) {
            BINARY.put(name, property);
        }
    }

    static boolean isWhiteSpace(int c) {
        return c >= '\t' && c <= '\r'
                || c == ' '
                || c == 0x85
                || c == 0xa0
                || c == 0x1680
                || c >= 0x2000 && c <= 0x200a
                || c == 0x2028
                || c == 0x2029
                || c == 0x202f
                || c == 0x205f
                || c == 0x3000;
    }

    /** The word characters of {@code \w} and {@code \b}. */
    static boolean isWord(int c) {
        if (c < 0x80) {
            return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_';
        }
        int marks = 1 << Character.NON_SPACING_MARK
                | 1 << Character.COMBINING_SPACING_MARK
                | 1 << Character.ENCLOSING_MARK
                | 1 << Character.DECIMAL_DIGIT_NUMBER
                | 1 << Character.CONNECTOR_PUNCTUATION;
        return Character.isAlphabetic(c) || (marks >>> Character.getType(c) & 1) != 0 || c == 0x200c || c == 0x200d;
    }

    static CodePointSet word() {
        return SETS.computeIfAbsent(" w", key -> CodePointSet.where(UnicodeProperties::isWord));
    }

    static CodePointSet digit() {
        return SETS.computeIfAbsent(
                " d", key -> CodePointSet.where(c -> Character.getType(c) == Character.DECIMAL_DIGIT_NUMBER));
    }

    static CodePointSet whiteSpace() {
        return SETS.computeIfAbsent(" s", key -> CodePointSet.where(UnicodeProperties::isWhiteSpace));
    }

    /** The class of {@code \p{name}}; null if there is no such property. */
    static CodePointSet byName(String name) {
        String loose = loosen(name);
        IntPredicate property = BINARY.get(loose);
        if (property == null || loose.equals("sc")) {
            property = category(loose);
        }
        if (property == null) {
            property = script(loose);
        }
        return property == null ? null : cached(loose, property);
    }

    /** The class of {@code \p{property=value}}; null if there is no such property or value. */
    static CodePointSet byName(String property, String value) {
        String loose = loosen(value);
        IntPredicate found = switch (loosen(property)) {
            case "generalcategory", "gc" -> category(loose);
            case "script", "sc", "scriptextensions", "scx" -> script(loose);
            default -> null;
        };
        return found == null ? null : cached(loosen(property) + "=" + loose, found);
    }

    /** True if the property of {@code \p{property=value}} is known. */
    static boolean hasProperty(String property) {
        return switch (loosen(property)) {
            case "generalcategory", "gc", "script", "sc", "scriptextensions", "scx" -> true;
            default -> false;
        };
    }

    private static CodePointSet cached(String key, IntPredicate property) {
        return SETS.computeIfAbsent(key, name -> CodePointSet.where(property));
    }

    /** Case, spaces, hyphens, underscores and a leading "is" don't count. */
    private static String loosen(String name) {
        StringBuilder loose = new StringBuilder();
        for (char c : name.toLowerCase(Locale.ROOT).toCharArray()) {
            if (c != ' ' && c != '-' && c != '_' && c < 0x80) {
                loose.append(c);
            }
        }
        return loose.length() > 2 && loose.indexOf("is") == 0 ? loose.substring(2) : loose.toString();
    }

    private static IntPredicate category(String loose) {
        int bits = switch (loose) {
            case "l", "letter" -> bits("lu", "ll", "lt", "lm", "lo");
            case "lc", "casedletter" -> bits("lu", "ll", "lt");
            case "m", "mark", "combiningmark" -> bits("mn", "mc", "me");
            case "n", "number" -> bits("nd", "nl", "no");
            case "p", "punctuation", "punct" -> bits("pc", "pd", "ps", "pe", "pi", "pf", "po");
            case "s", "symbol" -> bits("sm", "sc", "sk", "so");
            case "z", "separator" -> bits("zs", "zl", "zp");
            case "c", "other" -> bits("cc", "cf", "co", "cn");
            default -> CATEGORIES.getOrDefault(loose, 0);
        };
        return bits == 0 ? null : c -> (bits >>> Character.getType(c) & 1) != 0;
    }

    private static int bits(String... names) {
        int bits = 0;
        for (String name : names) {
            bits |= CATEGORIES.get(name);
        }
        return bits;
    }

    private static IntPredicate script(String loose) {
        for (Character.UnicodeScript script : Character.UnicodeScript.values()) {
            if (loosen(script.name()).equals(loose)) {
                return c -> Character.UnicodeScript.of(c) == script;
            }
        }
        try {
            Character.UnicodeScript script = Character.UnicodeScript.forName(loose.toUpperCase(Locale.ROOT));
            return c -> Character.UnicodeScript.of(c) == script;
        } catch (IllegalArgumentException ignored) {
            return null; // no such script: the caller names the property in its error
        }
    }

    /** Adds to a set all code points that a simple case folding makes equal to one of its own. */
    static CodePointSet closeOverCase(CodePointSet set) {
        CodePointSet.Builder builder = new CodePointSet.Builder();
        builder.addAll(set);
        int[][] orbits = Orbits.ALL;
        for (int[] orbit : orbits) {
            boolean touched = false;
            for (int c : orbit) {
                touched |= set.contains(c);
            }
            for (int c : orbit) {
                if (touched) {
                    builder.add(c, c);
                }
            }
        }
        return builder.build();
    }

    /** Code points that fold to the same one; only sets of two and more. */
    private static final class Orbits {
        static final int[][] ALL = build();

        private static int[][] build() {
            Map<Integer, int[]> byFold = new HashMap<>();
            for (int c = 0; c <= CodePointSet.MAX; c++) {
                int fold = fold(c);
                if (fold != c || Character.toUpperCase(c) != c || Character.toTitleCase(c) != c) {
                    add(byFold, fold, c);
                    add(byFold, fold, fold);
                }
            }
            return byFold.values().stream().filter(orbit -> orbit.length > 1).toArray(int[][]::new);
        }

        private static void add(Map<Integer, int[]> byFold, int fold, int c) {
            int[] known = byFold.getOrDefault(fold, new int[0]);
            for (int k : known) {
                if (k == c) {
                    return;
                }
            }
            int[] more = java.util.Arrays.copyOf(known, known.length + 1);
            more[known.length] = c;
            byFold.put(fold, more);
        }

        /** Simple case folding. Dotted and dotless i fold to nothing else. */
        private static int fold(int c) {
            return switch (c) {
                case 0x130, 0x131 -> c;
                case 0x1fd3 -> 0x390;
                case 0x1fe3 -> 0x3b0;
                case 0xfb05 -> 0xfb06;
                default -> Character.toLowerCase(Character.toUpperCase(c));
            };
        }
    }
}
