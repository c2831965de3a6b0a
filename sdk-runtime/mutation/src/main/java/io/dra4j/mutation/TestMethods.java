// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.mutation;

import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.UniqueId;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.EngineFilter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.pitest.classinfo.ClassByteArraySource;
import org.pitest.help.PitHelpError;
import org.pitest.mutationtest.environment.EnvironmentResetPlugin;
import org.pitest.mutationtest.environment.ResetEnvironment;
import org.pitest.testapi.AbstractTestUnit;
import org.pitest.testapi.Configuration;
import org.pitest.testapi.Description;
import org.pitest.testapi.ResultCollector;
import org.pitest.testapi.TestGroupConfig;
import org.pitest.testapi.TestPluginFactory;
import org.pitest.testapi.TestSuiteFinder;
import org.pitest.testapi.TestUnit;
import org.pitest.testapi.TestUnitFinder;

/**
 * JUnit's test methods, as tests of PIT.
 *
 * <p>PIT's own plugin for JUnit runs each class an extra time in each JVM to find its tests, and then each invocation
 * of a parameterized method separately, for which JUnit computes all arguments again: quadratic in the number of
 * recorded
 * cases. Here a method is one test with all its invocations, and is found without a run.
 */
public final class TestMethods implements TestPluginFactory, EnvironmentResetPlugin {
    private static final String ENGINE = "junit-jupiter";
    private static final Launcher LAUNCHER = LauncherFactory.create();
    private static final Killers KILLERS = new Killers();

    @Override
    public String name() {
        return "methods";
    }

    @Override
    public String description() {
        return "JUnit's test methods";
    }

    @Override
    public ResetEnvironment make() {
        return mutant -> KILLERS.nextMutant();
    }

    @Override
    public Configuration createTestFrameworkConfiguration(
            TestGroupConfig groups,
            ClassByteArraySource classes,
            Collection<String> excludedRunners,
            Collection<String> includedMethods) {
        return new Configuration() {
            @Override
            public TestUnitFinder testUnitFinder() {
                return (type, listener) -> find(type, groups.getExcludedGroups());
            }

            @Override
            public TestSuiteFinder testSuiteFinder() {
                return type -> List.of();
            }

            @Override
            public Optional<PitHelpError> verifyEnvironment() {
                return Optional.empty();
            }
        };
    }

    /** The methods of a class and of the classes nested in it, which are not test classes on their own. */
    static List<TestUnit> find(Class<?> type, List<String> excludedTags) {
        if (type.getEnclosingClass() != null) {
            return List.of();
        }
        LauncherDiscoveryRequestBuilder request = request().selectors(DiscoverySelectors.selectClass(type));
        if (!excludedTags.isEmpty()) {
            request.filters(TagFilter.excludeTags(excludedTags));
        }
        TestPlan plan = LAUNCHER.discover(request.build());
        return plan.getRoots().stream()
                .flatMap(root -> plan.getDescendants(root).stream())
                .filter(test -> test.getSource().orElse(null) instanceof MethodSource)
                .<TestUnit>map(test -> new TestMethod(type, test.getUniqueIdObject(), LAUNCHER, KILLERS))
                .toList();
    }

    static LauncherDiscoveryRequestBuilder request() {
        return LauncherDiscoveryRequestBuilder.request().filters(EngineFilter.includeEngines(ENGINE));
    }

    /** A test method with all its invocations: it fails if one of them does. */
    static final class TestMethod extends AbstractTestUnit {
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
                                        null,
                                        result.getThrowable().orElseGet(() -> new AssertionError(test + " failed")));
                            }
                        }
                    });
            return failure.get();
        }
    }
}
