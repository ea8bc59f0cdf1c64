package io.coplane.testing;

import io.coplane.nativecache.memory.NativeArena;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Fails a test that leaves native memory mapped: {@code @ExtendWith(NoLeaks.class)} on the class.
 *
 * <p>After each test as many native bytes are owned as before it, and after the last one of the class as before the first, so
 * that memory held by {@code @BeforeAll} must go in {@code @AfterAll}. For tests that run one after the other in their JVM.
 */
public final class NoLeaks implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {
    private static final ExtensionContext.Namespace NAMESPACE = ExtensionContext.Namespace.create(NoLeaks.class);

    /** JUnit makes the instances. */
    public NoLeaks() {}

    /** Fails if the process owns any native bytes. */
    public static void assertNoNativeBytes() {
        assertNativeBytes(0);
    }

    /** Fails if the process owns another number of native bytes. */
    public static void assertNativeBytes(long expected) {
        long actual = NativeArena.mappedBytes();
        if (actual != expected) {
            throw new AssertionError("native memory: mappedBytes=" + actual + " expected=" + expected
                    + (actual > expected ? " (an owner was not closed)" : " (an owner was freed twice)"));
        }
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        remember(context);
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        remember(context);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        compare(context);
    }

    @Override
    public void afterAll(ExtensionContext context) {
        compare(context);
    }

    private static void remember(ExtensionContext context) {
        context.getStore(NAMESPACE).put(context.getUniqueId(), NativeArena.mappedBytes());
    }

    private static void compare(ExtensionContext context) {
        assertNativeBytes(context.getStore(NAMESPACE).get(context.getUniqueId(), Long.class));
    }
}
