// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.NotApplicable;
import io.dra4j.conformance.context.SeenPools;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.HealthStreams;
import io.dra4j.conformance.probes.ProcessCount;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.QuietWindow;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.testkit.driver.Opened;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.kubelet.OpenHealthStream.Device;
import io.dra4j.testkit.kubelet.OpenHealthStream.Report;
import io.dra4j.testkit.kubelet.OpenHealthStream.Version;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Rules for the health that the driver reports of its devices. */
@ExecutionGroup.On(ExecutionGroup.OPTIONAL)
record HealthRules(TestContext context, HealthStreams streams, Publishing publishing) {

    private static final int DEFAULT_TIMEOUT = 30;
    private static final Duration LATEST_REFRESH = Duration.ofSeconds(65);
    private static final int LONGEST_MESSAGE = 1024;
    private static final int REOPENED = 100;
    private static final int SPARE = 10;
    private static final String ALL_UNKNOWN = "the health of all devices is Unknown, which needs no second message";

    HealthRules(TestContext context) {
        this(context, new HealthStreams(context), new Publishing(context));
    }

    /** The devices to report; a driver without any may be silent. */
    private Set<String> published() {
        Set<String> published = streams.published();
        context.devices().requirePool();
        NotApplicable.unless(!published.isEmpty(), "the driver publishes no device whose health could be reported");
        return published;
    }

    @Rule("DRA-HLT-01")
    void theCompleteListComesSoon() throws InterruptedException {
        Set<String> published = published();
        for (Version version : HealthStreams.versions(context)) {
            try (OpenHealthStream watch = streams.open(version)) {
                streams.await(
                        watch,
                        report -> HealthStreams.missing(report, published).isEmpty(),
                        Timeouts.FIRST_HEALTH,
                        "the complete list of the %d published devices on %s"
                                .formatted(published.size(), version.wireName()));
            }
        }
    }

    @Rule("DRA-HLT-02")
    void aChangeIsSentAndEveryMessageIsComplete() throws InterruptedException {
        Set<String> published = published();
        try (OpenHealthStream watch = streams.open()) {
            Report before = first(watch, published);
            SeenPools well = publishing.now();
            Opened fault = context.hook("fault", "recover");
            try {
                streams.await(
                        watch,
                        report -> !states(report).equals(states(before)),
                        context.timeouts().change(),
                        "a change of health after the hook fault");
            } finally {
                publishing.undo(fault, well);
            }
            streams.await(
                    watch,
                    report -> states(report).equals(states(before)),
                    context.timeouts().change(),
                    "the previous health, after the hook recover,");
            for (Report report : watch.reports()) {
                List<String> missing = HealthStreams.missing(report, published);
                Violation.unless(missing.isEmpty())
                        .because(
                                "a health message must be complete; one with %d entries lacks %s",
                                report.devices().size(), SeenPools.few(missing));
            }
        }
    }

    private Report first(OpenHealthStream watch, Set<String> published) throws InterruptedException {
        return streams.await(
                watch,
                report -> HealthStreams.missing(report, published).isEmpty(),
                Timeouts.FIRST_HEALTH,
                "the complete list");
    }

    private static Map<String, String> states(Report report) {
        return report.devices().stream()
                .collect(Collectors.toMap(d -> d.pool() + "/" + d.device(), Device::state, (a, b) -> b));
    }

    @Rule("DRA-HLT-03")
    @ExecutionGroup.On(ExecutionGroup.QUIET)
    void entriesAreDatedInSecondsAndRefreshedInTime() throws InterruptedException {
        QuietWindow window = QuietWindow.of(context);
        List<Report> reports = window.reports();
        NotApplicable.unless(
                reports.stream().anyMatch(report -> !report.devices().isEmpty()), "the driver reports no device");
        for (Report report : reports) {
            report.devices().forEach(device -> checkDate(device, report));
        }
        boolean isOpen = window.health().orElseThrow().end().isEmpty();
        Violation.unless(isOpen)
                .because("%s", HealthStreams.seen(window.health().orElseThrow()));
        Untested.unless(reports.stream().anyMatch(HealthStreams::isAnyKnown), ALL_UNKNOWN);
        for (int i = 1; i < reports.size(); i++) {
            checkFresh(reports.get(i - 1), reports.get(i).received());
        }
        checkFresh(reports.get(reports.size() - 1), Instant.now());
    }

    private static void checkDate(Device device, Report report) {
        long now = report.received().getEpochSecond();
        Violation.unless(device.lastUpdated() <= now + 1)
                .because(
                        "the health of %s/%s has last_updated_time %d at the time %d: it is in the future, or not in seconds",
                        device.pool(), device.device(), device.lastUpdated(), now);
    }

    /** An entry is as old as its message: a kubelet replaces its time by that of the receipt. */
    private void checkFresh(Report report, Instant now) {
        Duration age = Duration.between(report.received(), now);
        for (Device device :
                report.devices().stream().filter(HealthStreams::isKnown).toList()) {
            Duration limit = Duration.ofSeconds(timeout(device) + 1);
            context.measurements().time("greatest age of an entry", Duration.ofSeconds(age.toSeconds()), limit);
            Violation.unless(age.compareTo(limit) <= 0)
                    .because(
                            "the health of %s/%s was not refreshed in time: its last_updated_time %d was %d s ago, and its timeout is %d s; a kubelet treats it as Unknown",
                            device.pool(),
                            device.device(),
                            device.lastUpdated(),
                            now.getEpochSecond() - device.lastUpdated(),
                            timeout(device));
        }
    }

    @Rule("DRA-HLT-04")
    void manyStreamsWorkAndLeaveNothing() throws InterruptedException {
        Set<String> published = published();
        reopen(SPARE, published); // the driver may reuse what the first streams leave behind
        ProcessCount before = ProcessCount.of(context);
        int known = ends().size();
        boolean anyKnown;
        List<OpenHealthStream> three = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                three.add(streams.open());
                first(three.get(i), published);
            }
            anyKnown = HealthStreams.isAnyKnown(last(three.get(0)));
            if (anyKnown) {
                awaitRefresh(three);
            }
            reopen(REOPENED, published);
            three.forEach(HealthRules::checkOpen);
        } finally {
            three.forEach(OpenHealthStream::close);
        }
        List<KubeletEvent> ended = ends().stream().skip(known).toList();
        Violation.unless(ended.isEmpty()).because("the driver ended the kubelet's health stream: %s", ended);
        before.checkGrowth(context, REOPENED + 3, SPARE);
        Untested.unless(anyKnown, ALL_UNKNOWN + ": whether each stream gets the next one cannot be seen");
    }

    private static Report last(OpenHealthStream watch) {
        List<Report> reports = watch.reports();
        return reports.get(reports.size() - 1);
    }

    /**
     * The health service must not forget the first stream because of the second: each has to receive another message
     * before its last one expires.
     */
    private void awaitRefresh(List<OpenHealthStream> all) throws InterruptedException {
        Duration due = due(all.get(0));
        if (due.compareTo(LATEST_REFRESH) > 0) {
            context.transcript().note("the next message is only due within " + due.toSeconds() + " s");
            return;
        }
        List<Integer> counts = all.stream().map(watch -> watch.reports().size()).toList();
        boolean hasHook = context.hooks().has("fault") && context.hooks().has("recover");
        SeenPools well = publishing.now();
        Opened fault = hasHook ? context.hook("fault", "recover") : new Opened();
        try {
            for (int i = 0; i < all.size(); i++) {
                int count = counts.get(i);
                Measurements.Wait wait = context.measurements().begin("time until the next message", due);
                Violation.unless(wait.end(all.get(i).awaitAll(reports -> reports.size() > count, due))
                                .isPresent())
                        .because(
                                "three health streams are open, and stream %d, counted in the order of opening, receives nothing more: %s",
                                i + 1, HealthStreams.seen(all.get(i)));
            }
        } finally {
            if (hasHook) {
                publishing.undo(fault, well);
            }
        }
    }

    /** The time for which a stream may be silent after its last message. */
    private static Duration due(OpenHealthStream watch) {
        return Duration.ofSeconds(last(watch).devices().stream()
                        .filter(HealthStreams::isKnown)
                        .mapToLong(HealthRules::timeout)
                        .min()
                        .orElse(DEFAULT_TIMEOUT)
                + 5);
    }

    private static long timeout(Device device) {
        return device.timeoutSeconds() > 0 ? device.timeoutSeconds() : DEFAULT_TIMEOUT;
    }

    private static void checkOpen(OpenHealthStream watch) {
        Violation.unless(watch.end().isEmpty())
                .because("the driver ended a health stream that was not cancelled: %s", HealthStreams.seen(watch));
    }

    private void reopen(int times, Set<String> published) throws InterruptedException {
        for (int i = 0; i < times; i++) {
            try (OpenHealthStream watch = context.kubelet()
                    .watchHealth(
                            context.place().driver(),
                            HealthStreams.versions(context).get(0))) {
                first(watch, published);
            }
        }
    }

    /**
     * The ends of this instance's streams, not of those that the kubelet opens again and again: to a killed sibling, or
     * in a version that the driver does not serve.
     */
    private List<KubeletEvent> ends() {
        Path socket = RegistrationSocket.of(context).path();
        return context.kubelet().events(KubeletEvent.Kind.HEALTH_ENDED, 0).stream()
                .filter(event ->
                        event.socket().equals(socket) && !event.detail().equals("UNIMPLEMENTED"))
                .toList();
    }

    @Rule("DRA-HLT-05")
    void namesArePublishedOnesAndMessagesShort() throws InterruptedException {
        published();
        try (OpenHealthStream watch = streams.open()) {
            Report report = streams.await(watch, any -> true, Timeouts.FIRST_HEALTH, "a first message");
            Set<String> published = streams.everPublished();
            Set<String> seen = new HashSet<>();
            for (Device device : report.devices()) {
                String name = device.pool() + "/" + device.device();
                Violation.unless(published.contains(name))
                        .because("the health stream names device %s, which no slice has or had", name);
                Violation.unless(seen.add(name)).because("the health stream names device %s twice", name);
                int length = device.message().getBytes(StandardCharsets.UTF_8).length;
                context.measurements().bytes("longest message", length, LONGEST_MESSAGE);
                Violation.unless(length <= LONGEST_MESSAGE)
                        .because(
                                "the message about device %s has %d bytes, but at most %d are allowed",
                                name, length, LONGEST_MESSAGE);
            }
        }
    }

    @Rule("DRA-HLT-06")
    void withoutTheServiceTheCallIsUnimplementedAtOnce() throws InterruptedException {
        for (Version version : Version.values()) {
            try (OpenHealthStream watch = streams.open(version)) {
                Violation.unless(streams.ends(watch, Timeouts.FIRST_HEALTH))
                        .because(
                                "the driver does not declare %s, and its call hangs; it must be answered with UNIMPLEMENTED immediately",
                                version.wireName());
                String end = watch.end().orElse("");
                Violation.unless(end.equals("UNIMPLEMENTED") && watch.reports().isEmpty())
                        .because(
                                "the driver does not declare %s, and its call was answered with %d messages and %s instead of UNIMPLEMENTED",
                                version.wireName(), watch.reports().size(), end);
            }
        }
    }

    @Rule("DRA-HLT-07")
    void bothVersionsTellTheSame() throws InterruptedException {
        List<Version> versions = HealthStreams.versions(context);
        NotApplicable.unless(versions.contains(Version.V1), "the driver does not declare " + Version.V1.wireName());
        Set<String> published = published();
        try (OpenHealthStream newer = streams.open(Version.V1)) {
            first(newer, published);
            if (!versions.contains(Version.V1ALPHA1)) {
                return;
            }
            try (OpenHealthStream older = streams.open(Version.V1ALPHA1)) {
                first(older, published);
                streams.await(
                        newer,
                        report -> contents(report).equals(contents(last(older))),
                        Timeouts.FIRST_HEALTH,
                        "what %s reports at the same time (%s)"
                                .formatted(Version.V1ALPHA1.wireName(), HealthStreams.seen(older)));
            }
        }
    }

    @Rule("DRA-HLT-08")
    void theVersionThatStaysIsDeclared() {
        List<String> declared = context.driver().info().versions();
        Violation.unless(declared.contains(Version.V1.wireName()))
                .because("the driver declares %s, but not %s", declared, Version.V1.wireName());
    }

    /** Everything that is sent about a device, except for its time. */
    private static Map<String, List<Object>> contents(Report report) {
        return report.devices().stream()
                .collect(Collectors.toMap(
                        d -> d.pool() + "/" + d.device(),
                        d -> List.of(d.state(), d.timeoutSeconds(), d.message()),
                        (a, b) -> b));
    }
}
