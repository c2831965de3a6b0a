// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import com.fasterxml.jackson.databind.node.TextNode;
import io.dra4j.api.DeviceProvider;
import io.dra4j.conformance.inprocess.ProviderDriver;
import io.dra4j.conformance.requirements.Catalogue;
import io.dra4j.conformance.requirements.Profile;
import io.dra4j.conformance.requirements.Requirement;
import io.dra4j.conformance.run.Engine;
import io.dra4j.conformance.run.Progress;
import io.dra4j.conformance.run.Result;
import io.dra4j.conformance.run.RunOutcome;
import io.dra4j.conformance.run.Verdict;
import io.dra4j.conformance.settings.Settings;
import io.dra4j.conformance.settings.SettingsReader;
import io.dra4j.runtime.DraDriver;
import io.dra4j.testkit.driver.DriverAdapter;
import io.dra4j.testkit.driver.Place;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;

/**
 * The suite as JUnit 5 tests of a {@link DeviceProvider}, in this JVM.
 *
 * <pre>{@code
 * class MyDriverConformanceTest {
 *     @TestFactory
 *     Stream<DynamicNode> conformance() {
 *         return DraConformance.of("gpu.example.com", place -> new MyProvider()).tests();
 *     }
 * }
 * }</pre>
 *
 * <p>One test for each requirement, in a container for each profile: it fails if a MUST is broken or the suite itself
 * fails, and is aborted (shown as skipped) with the reason if the requirement does not apply, is blocked, or is not
 * tested. A broken SHOULD is printed and passes. Requirements that stop, kill or restart a driver are not tested in a
 * JVM, except for what is left behind by a provider that claims to change nothing: for the others, run the suite
 * against the packaged driver.
 */
public final class DraConformance {

    private static final URI CATALOGUE = URI.create("classpath:/io/dra4j/conformance/requirements/requirements.yaml");

    private final String driverName;
    private final Function<Place, DeviceProvider> providers;
    private Consumer<DraDriver.Builder> builder = any -> {};
    private String yaml = "";

    private DraConformance(String driverName, Function<Place, DeviceProvider> providers) {
        this.driverName = driverName;
        this.providers = providers;
    }

    /**
     * Creates tests of the providers that a function makes.
     *
     * @param driverName the driver's name
     * @param providers makes a new provider for a node; called once for each node that is set up
     */
    public static DraConformance of(String driverName, Function<Place, DeviceProvider> providers) {
        return new DraConformance(driverName, providers);
    }

    /** Changes the driver's builder before each start, for example to add a readiness check. */
    public DraConformance builder(Consumer<DraDriver.Builder> change) {
        builder = change;
        return this;
    }

    /** Adds settings, as in the file of {@code dra-conformance run}: configs, profiles, timeouts. */
    public DraConformance settings(String text) {
        yaml = text;
        return this;
    }

    /** The tests, which share one run that begins with the first of them. */
    public Stream<DynamicNode> tests() {
        Settings settings = SettingsReader.parse(
                yaml,
                "the settings of the test",
                Map.of("/driver/name", TextNode.valueOf(driverName), "/driver/kind", TextNode.valueOf("in-process")));
        Catalogue catalogue = Catalogue.load();
        DriverAdapter adapter = ProviderDriver.of(providers, builder);
        Run run = new Run(new Engine(settings, adapter, catalogue, Progress.NONE));
        return catalogue.profiles().stream().map(profile -> container(profile, catalogue, run));
    }

    private static DynamicNode container(Profile profile, Catalogue catalogue, Run run) {
        return DynamicContainer.dynamicContainer(
                profile.name(),
                catalogue.requirements().stream()
                        .filter(requirement -> requirement.profile().equals(profile.name()))
                        .map(requirement -> test(requirement, run)));
    }

    /** With its own source, because Surefire names other dynamic tests only by their numbers. */
    private static DynamicNode test(Requirement requirement, Run run) {
        return DynamicTest.dynamicTest(
                requirement.id() + ": " + requirement.rule(), CATALOGUE, () -> report(requirement, run));
    }

    private static void report(Requirement requirement, Run run) {
        List<Result> results = run.outcome().results().stream()
                .filter(result -> result.requirement().equals(requirement))
                .toList();
        String text = results.stream()
                .map(r -> r.name() + " " + r.verdict() + ": " + r.message())
                .collect(Collectors.joining("\n"));
        if (results.stream().anyMatch(r -> isBad(r.verdict()))) {
            Assertions.fail(text + "\nHint: " + requirement.hint());
        }
        Assumptions.assumeTrue(results.stream().anyMatch(r -> isAnswer(r.verdict())), text);
    }

    private static boolean isBad(Verdict verdict) {
        return verdict == Verdict.FAIL || verdict == Verdict.SUITE_ERROR;
    }

    private static boolean isAnswer(Verdict verdict) {
        return verdict == Verdict.PASS || verdict == Verdict.WARN || verdict == Verdict.INFO;
    }

    /** The run that the tests share; the first one starts it. */
    private static final class Run {
        private final Engine engine;
        private @Nullable CompletableFuture<RunOutcome> outcome; // guarded by this

        Run(Engine engine) {
            this.engine = engine;
        }

        synchronized RunOutcome outcome() {
            CompletableFuture<RunOutcome> known = outcome;
            if (known == null) {
                known = CompletableFuture.supplyAsync(engine::run, Runnable::run);
                outcome = known;
            }
            return known.join();
        }
    }
}
