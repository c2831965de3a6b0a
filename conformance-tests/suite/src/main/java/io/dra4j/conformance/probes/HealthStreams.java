// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.probes;

import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.PublishedDevice;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Violation;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.kubelet.OpenHealthStream.Report;
import io.dra4j.testkit.kubelet.OpenHealthStream.Version;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Streams of the driver's health, and what every message on them must have. */
public record HealthStreams(TestContext context) {

    /** The versions of the service that the driver declares. */
    public static List<Version> versions(TestContext context) {
        List<String> declared = context.driver().info().versions();
        return Arrays.stream(Version.values())
                .filter(version -> declared.contains(version.wireName()))
                .toList();
    }

    public OpenHealthStream open(Version version) {
        context.transcript().note("open a stream of " + version.wireName());
        return context.kubelet().watchHealth(context.place().driver(), version);
    }

    /** Opens a stream of the version that the kubelet would take. */
    public OpenHealthStream open() {
        return open(versions(context).get(0));
    }

    /** Waits for a message that meets a condition, and measures the time. */
    public Report await(OpenHealthStream watch, Predicate<Report> wanted, Duration timeout, String what)
            throws InterruptedException {
        Measurements.Wait wait = context.measurements().begin("time until " + what, timeout);
        return wait.end(watch.await(wanted, timeout))
                .orElseThrow(() -> new Violation(
                        "%s has not arrived on the health stream within %d s; %s",
                        what, timeout.toSeconds(), seen(watch)));
    }

    /** Returns whether the driver ends a stream within a limit, and measures the time. */
    public boolean ends(OpenHealthStream watch, Duration limit) throws InterruptedException {
        Measurements.Wait wait = context.measurements().begin("time until the stream ended", limit);
        return wait.end(watch.awaitEnd(limit));
    }

    /** Returns whether an entry says more than a kubelet assumes once the entry is out of date. */
    public static boolean isKnown(OpenHealthStream.Device device) {
        return !device.state().equals("UNKNOWN");
    }

    public static boolean isAnyKnown(Report report) {
        return report.devices().stream().anyMatch(HealthStreams::isKnown);
    }

    public static String seen(OpenHealthStream watch) {
        List<Report> reports = watch.reports();
        return reports.size()
                + " messages came"
                + (reports.isEmpty() ? "" : ", the last: " + text(reports.get(reports.size() - 1)))
                + watch.end()
                        .map(end -> "; the driver ended the stream with " + end)
                        .orElse("");
    }

    static String text(Report report) {
        return SeenPools.few(report.devices().stream()
                .map(d -> d.pool() + "/" + d.device() + " " + d.state())
                .toList());
    }

    public Set<String> published() {
        return context.devices().all().stream()
                .map(PublishedDevice::toString)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * All devices that are or were published: the health of a device that was withdrawn because it is broken matters to
     * the pods that have it, and may be reported again before the device is back in a slice.
     */
    public Set<String> everPublished() {
        Set<String> all = new TreeSet<>(published());
        context.proxy().requests(Publishing.WRITES).stream()
                .map(Publishing::body)
                .flatMap(Optional::stream)
                .flatMap(slice -> ApiObjects.elements(slice.at("/spec/devices")).stream()
                        .map(device -> SeenPools.pool(slice) + "/"
                                + device.path("name").asText()))
                .forEach(all::add);
        return all;
    }

    static Set<String> names(Report report) {
        return report.devices().stream()
                .map(d -> d.pool() + "/" + d.device())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    public static List<String> missing(Report report, Set<String> devices) {
        Set<String> named = names(report);
        return devices.stream().filter(name -> !named.contains(name)).toList();
    }
}
