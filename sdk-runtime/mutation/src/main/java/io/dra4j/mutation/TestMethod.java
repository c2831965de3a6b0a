// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.pitest.testapi.AbstractTestUnit;
import org.pitest.testapi.Description;
import org.pitest.testapi.ResultCollector;

/** A test method with all its invocations: it fails if one of them does. */
final class TestMethod extends AbstractTestUnit {
    private final Class<?> type;
    private final UniqueId id;
    private final Launcher launcher;
    private final Killers killers;

    TestMethod(Class<?> type, UniqueId id, Launcher launcher, Killers killers) {
        super(new Description(name(id), type));
        this.type = type;
        this.id = id;
        this.launcher = launcher;
        this.killers = killers;
    }

    /** The names below the class, as in {@code Nested.method(int)}. */
    private static String name(UniqueId id) {
        return id.getSegments().stream()
                .skip(2) // the engine and the class
                .map(UniqueId.Segment::getValue)
                .collect(Collectors.joining("."));
    }

    @Override
    public void execute(ResultCollector results) {
        if (killers.areEnough()) {
            results.notifySkipped(getDescription());
            return;
        }
        results.notifyStart(getDescription());
        Throwable failure = run();
        if (failure == null) {
            results.notifyEnd(getDescription());
        } else {
            killers.add(type);
            results.notifyEnd(getDescription(), failure);
        }
    }

    private @Nullable Throwable run() {
        AtomicReference<Throwable> failure = new AtomicReference<>();
        launcher.execute(
                TestMethods.request()
                        .selectors(DiscoverySelectors.selectUniqueId(id))
                        .build(),
                new TestExecutionListener() {
                    @Override
                    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                        if (result.getStatus() == TestExecutionResult.Status.FAILED) {
                            failure.compareAndSet(
                                    null, result.getThrowable().orElseGet(() -> new AssertionError(test + " failed")));
                        }
                    }
                });
        return failure.get();
    }
}
