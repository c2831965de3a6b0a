// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.junit;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A {@link TestNode} that lives as long as the tests of a class, if the extension is registered in a
 * static field, and as long as one test in an instance field.
 */
public abstract class NodeExtension
        implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback, AfterAllCallback {

    private Consumer<EmbeddedApiServer.Builder> settings = builder -> {};
    private volatile @Nullable TestNode node;
    private String owner = "";

    /** Makes the node, on which no driver runs yet. */
    protected abstract TestNode make(EmbeddedApiServer.Builder server);

    /** Starts the driver, and waits until the kubelet has registered it. */
    protected abstract void begin(TestNode made) throws InterruptedException;

    /** Changes the API server before each start. */
    protected final void changeServer(Consumer<EmbeddedApiServer.Builder> change) {
        settings = settings.andThen(change);
    }

    /** Uses the node of another extension, which closes it. */
    protected final void share(TestNode ofAnother) {
        node = ofAnother;
    }

    @Override
    public final void beforeAll(ExtensionContext context) throws Exception {
        start(context);
    }

    @Override
    public final void beforeEach(ExtensionContext context) throws Exception {
        start(context);
    }

    @Override
    public final void afterEach(ExtensionContext context) {
        stop(context);
    }

    @Override
    public final void afterAll(ExtensionContext context) {
        stop(context);
    }

    /** Starts the node unless the class of the test, or an outer one, has. */
    private void start(ExtensionContext context) throws InterruptedException {
        if (node != null) {
            return;
        }
        EmbeddedApiServer.Builder server = EmbeddedApiServer.builder();
        settings.accept(server);
        TestNode made = make(server);
        try {
            begin(made);
            node = made;
            owner = context.getUniqueId();
        } finally {
            if (node == null) {
                made.close();
            }
        }
    }

    private void stop(ExtensionContext context) {
        TestNode running = node;
        if (running != null && context.getUniqueId().equals(owner)) {
            node = null;
            running.close();
        }
    }

    /**
     * Returns the node with all abilities of the test kit, such as faults of the API server.
     *
     * @return the node
     * @throws IllegalStateException if no test runs
     */
    public final TestNode node() {
        TestNode running = node;
        if (running == null) {
            throw new IllegalStateException("The node runs only during tests");
        }
        return running;
    }
}
