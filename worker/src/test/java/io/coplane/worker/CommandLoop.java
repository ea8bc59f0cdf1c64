package io.coplane.worker;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * Runs commands in one process, each on a thread of its own, until the input ends: a line is a name for its answer and the arguments, separated by
 * tabs. An answer is a line as well: the name and, in Base64, what the command printed and its exit status.
 */
final class CommandLoop {
    /** What the last line of what a command printed begins with. */
    static final String STATUS = "exit status ";

    private CommandLoop() {}

    /** Runs what comes. */
    public static void main(String[] none) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err); // what libraries print is no answer
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split("\t", -1);
            Thread.ofPlatform().name("command-" + words[0]).start(() -> {
                var text = new StringWriter();
                var out = new PrintWriter(text, true);
                int status = CoplaneMain.run(out, out, Arrays.copyOfRange(words, 1, words.length));
                out.print(STATUS + status + "\n");
                out.flush();
                byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
                synchronized (answers) {
                    answers.println(words[0] + "\t" + Base64.getEncoder().encodeToString(bytes));
                    answers.flush();
                }
            });
        }
    }

    /** What a command printed. */
    static String decode(String answer) {
        return new String(Base64.getDecoder().decode(answer), StandardCharsets.UTF_8);
    }
}
