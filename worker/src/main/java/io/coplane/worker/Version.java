package io.coplane.worker;

import java.util.Objects;

/** The version that the build wrote into the jar. */
final class Version {
    private Version() {}

    /** {@code development} where the classes come from no jar. */
    static String text() {
        return Objects.requireNonNullElse(Version.class.getPackage().getImplementationVersion(), "development");
    }
}
