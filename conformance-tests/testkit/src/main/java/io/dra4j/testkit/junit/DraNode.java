// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.junit;

import io.dra4j.testkit.TestNode;
import io.dra4j.testkit.apiserver.EmbeddedApiServer;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.InProcessDriver;
import io.dra4j.testkit.driver.Place;
import io.dra4j.testkit.driver.ProcessDriver;
import io.dra4j.testkit.kubelet.FakeKubelet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * A {@link TestNode} that runs one driver, registered with {@code @RegisterExtension}.
 *
 * <p>In a static field, it lives as long as the tests of the class; in an instance field, as long as one test. A test
 * begins once the driver is registered with the kubelet. Test methods may have parameters of the types {@link
 * TestNode}, {@link EmbeddedApiServer}, {@link FakeKubelet} and {@link Place}.
 */
public final class DraNode extends NodeExtension implements ParameterResolver {

    private static final Set<Class<?>> PARAMETERS =
            Set.of(TestNode.class, EmbeddedApiServer.class, FakeKubelet.class, Place.class);

    private final String driver;
    private final DriverAdapter adapter;

    private DraNode(String driver, DriverAdapter adapter) {
        this.driver = driver;
        this.adapter = adapter;
    }

    /** A node with a driver that an adapter starts. */
    public static DraNode of(String driver, DriverAdapter adapter) {
        return new DraNode(driver, adapter);
    }

    /** A node with a driver that a function starts in this JVM. */
    public static DraNode of(String driver, InProcessDriver.Starter starter) {
        return of(driver, new InProcessDriver(starter));
    }

    /**
     * A node with a driver that is a process.
     *
     * @param command the program and its arguments; {@code {NAME}} stands for a {@link
     *     Place#values() value of the place}, such as {@code {KUBECONFIG}}
     */
    public static DraNode ofProcess(String driver, String... command) {
        return of(driver, new ProcessDriver(List.of(command), Map.of(), TestNode.TIMEOUT));
    }

    /** Changes the API server before each start, for example its Kubernetes version. */
    public DraNode withServer(Consumer<EmbeddedApiServer.Builder> change) {
        changeServer(change);
        return this;
    }

    @Override
    protected TestNode make(EmbeddedApiServer.Builder server) {
        return new TestNode(driver, adapter, server);
    }

    @Override
    protected void begin(TestNode made) throws InterruptedException {
        made.start();
        made.awaitRegistered();
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        return PARAMETERS.contains(parameter.getParameter().getType());
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        TestNode running = node();
        return Stream.of(running, running.api(), running.kubelet(), running.place())
                .filter(parameter.getParameter().getType()::isInstance)
                .findFirst()
                .orElseThrow();
    }
}
