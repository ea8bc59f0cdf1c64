package io.coplane.worker.replay;

/** Texts of errors without what is not compared (corpus README, rule 1). */
final class Texts {
    /** What a library's JSON parser says comes after this. */
    private static final String JSON_PARSER = "Illegal Json text: ";

    private Texts() {}

    /** Leaves out every {@code [file:line]: }, and what a parser of a library has to say. */
    static String comparable(String text) {
        int parser = text.indexOf(JSON_PARSER);
        return withoutSources(parser < 0 ? text : text.substring(0, parser + JSON_PARSER.length()));
    }

    private static String withoutSources(String text) {
        var out = new StringBuilder();
        int at = 0;
        while (at < text.length()) {
            int end = text.charAt(at) == '[' ? sourceEnd(text, at) : -1;
            if (end < 0) {
                out.append(text.charAt(at++));
            } else {
                at = text.startsWith(": ", end) ? end + 2 : end;
            }
        }
        return out.toString();
    }

    /** Position behind a {@code [file:line]} that starts here; -1 if none does. */
    private static int sourceEnd(String text, int start) {
        int close = text.indexOf(']', start);
        int colon = close < 0 ? -1 : text.lastIndexOf(':', close);
        if (colon <= start + 1 || colon == close - 1) {
            return -1;
        }
        for (int i = colon + 1; i < close; i++) {
            if (text.charAt(i) < '0' || text.charAt(i) > '9') {
                return -1;
            }
        }
        return close + 1;
    }
}
