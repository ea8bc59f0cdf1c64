package io.coplane.types.collation;

import io.coplane.nativecache.CoplaneException;
import io.coplane.nativecache.ErrorCode;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Builds weight tables from the resources beside this class; their README tells the syntax. */
final class WeightTables {
    private static final int BASIC = 0x10000;
    private static final int HANGUL = 0xac00;

    private WeightTables() {}

    /** utf8mb4_general_ci (coprocessor.md 8.3). */
    static int[] generalCi() {
        int[] weights = new int[BASIC];
        Arrays.setAll(weights, codePoint -> codePoint);
        for (String run : read("general-ci.txt").strip().split("\\s+", -1)) {
            int equals = run.indexOf('=');
            boolean rising = run.endsWith("+");
            int weight = hex(run.substring(equals + 1, rising ? run.length() - 1 : run.length()));
            int step = run.substring(0, equals).endsWith("/2") ? 2 : 1;
            String range = run.substring(0, step == 2 ? equals - 2 : equals);
            int last = last(range);
            for (int codePoint = first(range); codePoint <= last; codePoint += step) {
                weights[codePoint] = weight;
                weight += rising ? step : 0;
            }
        }
        return weights;
    }

    /** gbk_bin: GBK codes, unmapped 3F. */
    static int[] gbk() {
        return characters("gbk.txt", '?');
    }

    /** gb18030_bin: GB18030 codes of one, two and four bytes. */
    static int[] gb18030() {
        int[] weights = characters("gb18030.txt", '?');
        for (String run : read("gb18030-four.txt").strip().split("\\s+", -1)) {
            int equals = run.indexOf('=');
            String range = run.substring(0, equals);
            int linear = Gb18030.linear(hex(run.substring(equals + 1)));
            int last = last(range);
            for (int codePoint = first(range); codePoint <= last; codePoint++) {
                weights[codePoint] = Gb18030.code(linear++);
            }
        }
        return weights;
    }

    /** gbk_chinese_ci (expressions.md appendix B). */
    static int[] gbkChineseCi() {
        int[] weights = characters("gbk-chinese-ci.txt", '?');
        for (int letter = 'a'; letter <= 'z'; letter++) {
            weights[letter] = letter - 'a' + 'A';
        }
        weights['['] = 0x5c;
        weights[']'] = 0x5b;
        weights['~'] = 0x59;
        return weights;
    }

    /** utf8mb4_unicode_ci: U+0000 to U+FFFF. */
    static UcaTable uca0400() {
        return new UcaLines("uca-0400.txt", BASIC).table(0xfffd);
    }

    /** utf8mb4_0900_ai_ci: U+0000 to U+2CEA0. */
    static UcaTable uca0900() {
        return new UcaLines("uca-0900.txt", 0x2cea1).table(0);
    }

    private static int[] characters(String file, int unmapped) {
        int[] weights = new int[BASIC];
        Arrays.fill(weights, unmapped);
        for (int ascii = 0; ascii < 0x80; ascii++) {
            weights[ascii] = ascii;
        }
        for (String line : lines(file)) {
            int tab = line.indexOf('\t');
            int weight = hex(line.substring(0, tab));
            for (int i = tab + 1; i < line.length(); i++) {
                weights[line.charAt(i)] = weight++;
            }
        }
        return weights;
    }

    private static String[] lines(String file) {
        String text = read(file);
        return text.substring(0, text.length() - 1).split("\n", -1);
    }

    private static String read(String file) {
        try (InputStream in = WeightTables.class.getResourceAsStream(file)) {
            if (in == null) {
                throw new CoplaneException(ErrorCode.INVARIANT_BROKEN, "collation table is missing: file=" + file);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static int first(String range) {
        int dash = range.indexOf('-');
        return hex(dash < 0 ? range : range.substring(0, dash));
    }

    private static int last(String range) {
        return hex(range.substring(range.indexOf('-') + 1));
    }

    private static int hex(String digits) {
        return Integer.parseUnsignedInt(digits, 16);
    }

    /** Reads the items of a UCA file into entries and pool. */
    private static final class UcaLines {
        private final int[] entries;
        private int[] pool = new int[1 << 12];
        private int used = 1;
        private int hangulFirst;
        private int hangulCount;

        UcaLines(String file, int codePoints) {
            entries = new int[codePoints];
            int next = 0;
            for (String line : lines(file)) {
                int tab = line.indexOf('\t');
                next = hex(line.substring(0, tab));
                for (String item : line.substring(tab + 1).split(" ", -1)) {
                    next = add(item, next);
                }
            }
            for (int i = 0; i < hangulCount; i++) {
                hangul(hangulFirst + i);
            }
        }

        UcaTable table(int beyond) {
            return new UcaTable(entries, Arrays.copyOf(pool, used), beyond);
        }

        private int add(String item, int codePoint) {
            int star = item.indexOf('*');
            int count = star < 0 ? 1 : hex(item.substring(star + 1));
            String body = star < 0 ? item : item.substring(0, star);
            switch (body.charAt(0)) {
                case '-' -> {}
                case 'h' -> {
                    hangulFirst = codePoint;
                    hangulCount = count;
                }
                case '+' -> {
                    int primary = hex(body.substring(1));
                    for (int i = 0; i < count; i++) {
                        entries[codePoint + i] = primary + i;
                    }
                }
                case 'i' -> {
                    int base = hex(body.substring(1));
                    for (int i = codePoint; i < codePoint + count; i++) {
                        entries[i] = pool(base + (i >> 15), i & 0x7fff | 0x8000);
                    }
                }
                default -> Arrays.fill(entries, codePoint, codePoint + count, list(body));
            }
            return codePoint + count;
        }

        private int list(String body) {
            if (body.indexOf('.') < 0) {
                return hex(body);
            }
            String[] parts = body.split("\\.", -1);
            int[] primaries = new int[parts.length];
            for (int i = 0; i < parts.length; i++) {
                primaries[i] = hex(parts[i]);
            }
            return pool(primaries);
        }

        private void hangul(int codePoint) {
            int index = codePoint - HANGUL;
            int lead = entries[0x1100 + index / 588];
            int vowel = entries[0x1161 + index % 588 / 28];
            int tail = index % 28;
            entries[codePoint] = tail == 0 ? pool(lead, vowel) : pool(lead, vowel, entries[0x11a7 + tail]);
        }

        private int pool(int... primaries) {
            if (used + primaries.length > pool.length) {
                pool = Arrays.copyOf(pool, 2 * pool.length);
            }
            int place = used;
            for (int primary : primaries) {
                pool[used++] = primary;
            }
            pool[used - 1] |= UcaTable.LAST;
            return -place;
        }
    }
}
