// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Leftovers;
import io.dra4j.conformance.probes.Publishing;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.conformance.probes.Reported;
import io.dra4j.conformance.settings.TestedDriver;
import io.dra4j.rules.Names;
import io.dra4j.testkit.cluster.ApiObjects;
import io.dra4j.testkit.driver.Instance;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.KubeletEvent;
import io.dra4j.testkit.kubelet.KubeletEvent.Kind;
import io.dra4j.testkit.kubelet.OpenHealthStream;
import io.dra4j.testkit.kubelet.OpenHealthStream.Version;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import io.dra4j.testkit.kubelet.PrepareMessages;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.kubelet.RegistrationCalls;
import io.dra4j.testkit.proxy.Fault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Rules for a driver's registration: its GetInfo, the versions that it serves, and what its vendor declares. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record RegistrationRules(TestContext context) {

    private static final int TIMES = 3;
    private static final Duration DEATH = Duration.ofSeconds(3);

    @Rule(value = "DRA-REG-04", unregistered = true)
    void theKubeletMayNotifyAnyStatus() {
        RegistrationSocket socket = RegistrationSocket.of(context);
        RegistrationCalls.Info before = socket.info();
        try (RegistrationCalls calls = new RegistrationCalls(socket.path())) {
            for (int i = 0; i < TIMES; i++) {
                notify(calls, "");
            }
            refuse(calls);
        }
        RegistrationCalls.Info after = afterRefusal(socket);
        Violation.unless(before.equals(after))
                .because(
                        "GetInfo changed from %s to %s when the driver was notified of its registration",
                        before, after);
        servesStill(socket.service());
    }

    private void notify(RegistrationCalls calls, String error) {
        try {
            timed(calls, error);
        } catch (RegistrationCalls.Failed e) {
            throw new Violation("NotifyRegistrationStatus failed: " + e.getMessage());
        }
    }

    private void timed(RegistrationCalls calls, String error) throws RegistrationCalls.Failed {
        Measurements.Wait wait = context.measurements().begin("slowest NotifyRegistrationStatus", Timeouts.NOTIFY);
        try {
            calls.notify(error, Timeouts.NOTIFY);
            wait.end(true);
        } catch (RegistrationCalls.Failed e) {
            wait.end(!isSilence(e));
            throw e;
        }
    }

    private static boolean isSilence(RegistrationCalls.Failed failure) {
        return String.valueOf(failure.getMessage()).startsWith("DEADLINE_EXCEEDED");
    }

    /** Requires an answer, which may be an error. */
    private void refuse(RegistrationCalls calls) {
        try {
            timed(calls, "the conformance suite refuses the driver temporarily");
        } catch (RegistrationCalls.Failed e) {
            Violation.unless(!isSilence(e))
                    .because("NotifyRegistrationStatus was not answered within %s", Timeouts.NOTIFY);
        }
    }

    private RegistrationCalls.Info afterRefusal(RegistrationSocket socket) {
        try {
            return socket.info();
        } catch (Violation e) {
            context.driver().current().awaitExit(context.timeouts().times(DEATH));
            Violation.unless(context.driver().isAlive())
                    .because(
                            "the driver ended when it was notified that it is not registered: %s",
                            context.driver().fate());
            throw e;
        }
    }

    private static void servesStill(Path service) {
        try (RawCalls calls = new RawCalls(service)) {
            RawCalls.Response answer = calls.call(PrepareMessages.method(PluginInfo.Service.V1), new byte[0]);
            Violation.unless(!answer.code().equals("UNAVAILABLE"))
                    .because("the service is gone after the driver was notified that it is not registered: %s", answer);
        }
    }

    @Rule(value = "DRA-REG-05", unregistered = true)
    void theKubeletMayCallTheSocketsWhatItWants() {
        RegistrationSocket socket = RegistrationSocket.of(context);
        Path service = context.place().outside(socket.info("localhost").service(socket.path()));
        for (String authority : authorities(socket.path())) {
            socket.info(authority);
        }
        Map<String, String> codes = new LinkedHashMap<>();
        for (String authority : authorities(service)) {
            try (RawCalls calls = new RawCalls(service, authority)) {
                RawCalls.Response answer =
                        calls.call(PrepareMessages.method(context.calls().service()), new byte[0]);
                context.transcript().note("prepare as " + authority + " -> " + answer);
                codes.put(authority, answer.code());
            }
        }
        Violation.unless(Set.copyOf(codes.values()).size() == 1)
                .because("the answer to a prepare of no claims depends on the :authority: %s", codes);
    }

    private static List<String> authorities(Path socket) {
        return List.of(
                RegistrationCalls.kubeletAuthority(socket),
                "localhost",
                "dra-conformance.example.com:4711",
                "127.0.0.1");
    }

    @Rule("DRA-REG-06")
    void aNewKubeletReceivesTheSame() throws InterruptedException {
        RegistrationCalls.Info before = RegistrationSocket.of(context).info();
        context.restartKubelet();
        RegistrationCalls.Info after = RegistrationSocket.of(context).info();
        Violation.unless(before.equals(after)).because("GetInfo changed from %s to %s", before, after);
        context.devices().usable().stream()
                .findFirst()
                .map(context.claims()::allocate)
                .ifPresent(context.calls()::prepared);
    }

    /** Capabilities that the suite always sees: others may be known only from the vendor's declaration. */
    private static final Set<String> SEEN = Set.of("api", "cdi", "hc", "both", "multi", "ctr", "bind");

    /** Capabilities that not every driver has. */
    private static final Set<String> OPTIONAL = Set.of("multi", "ctr", "bind", "taint", "dst", "meta");

    private static final Duration LOOK = Duration.ofMillis(200);

    private RegistrationCalls.Info info() {
        return RegistrationSocket.of(context).info();
    }

    @Rule(value = "DRA-INFO-01", unregistered = true)
    void theTypeIsThatOfDraPlugins() {
        String type = info().type();
        Violation.unless(type.equals("DRAPlugin"))
                .because("GetInfo returns the type \"%s\"; the kubelet accepts only \"DRAPlugin\"", type);
    }

    @Rule(value = "DRA-INFO-02", unregistered = true)
    void theNameIsThatOfTheSlices() {
        String name = info().name();
        Violation.unless(Names.dnsSubdomainProblems(name).isEmpty() && name.length() <= Names.DRIVER_LENGTH)
                .because(
                        "the name \"%s\" is not a lower-case DNS subdomain of at most %d characters",
                        name, Names.DRIVER_LENGTH);
        Set<String> slices = driversOfTheNode();
        Violation.unless(slices.isEmpty() || slices.contains(name))
                .because("GetInfo returns the name %s; the node's ResourceSlices are those of %s", name, slices);
        Violation.unless(name.equals(context.place().driver()))
                .because(
                        "GetInfo returns the name %s; the settings of this run have %s",
                        name, context.place().driver());
    }

    private Set<String> driversOfTheNode() {
        String selector = ApiObjects.encoded("spec.nodeName=" + context.place().node());
        return context.cluster().list(Publishing.SLICES, "fieldSelector=" + selector).stream()
                .map(slice -> slice.at("/spec/driver").asText())
                .collect(Collectors.toSet());
    }

    @Rule(value = "DRA-INFO-03", unregistered = true)
    void theEndpointIsALiveSocket() throws IOException, InterruptedException {
        RegistrationSocket registration = RegistrationSocket.of(context);
        String endpoint = registration.info().endpoint();
        Path socket = registration.service();
        Violation.unless(socket.isAbsolute()).because("the endpoint \"%s\" is not an absolute path", endpoint);
        Violation.unless(RegistrationSocket.isSocket(socket)).because("the endpoint %s is not a unix socket", socket);
        try (RawCalls calls = new RawCalls(socket)) {
            RawCalls.Response answer = calls.call(PrepareMessages.method(Service.V1), new byte[0]);
            Violation.unless(!answer.code().equals("UNAVAILABLE"))
                    .because("no process answers at the endpoint %s: %s", socket, answer);
        }
        if (context.driver().isReady() && context.detected().contains("roll")) {
            try {
                anotherInstanceHasAnother(socket);
            } catch (Violation e) {
                throw e.of("seamless-upgrade"); // one instance still serves the kubelet
            }
        }
    }

    private void anotherInstanceHasAnother(Path socket) throws IOException, InterruptedException {
        int before = context.kubelet().events().size();
        Instance second = context.driver().launch(Map.of("POD_UID", "00000000-0000-4000-8000-00000000da7a"));
        try {
            awaitInfo(second, before);
            RegistrationSocket registration = RegistrationSocket.since(context, before);
            Path other = registration.service();
            second.terminate();
            second.awaitExit(Timeouts.SHUTDOWN);
            Files.deleteIfExists(registration.path());
            Violation.unless(!other.equals(socket))
                    .because("two instances of the driver with different POD_UID name the same endpoint %s", socket);
        } finally {
            second.kill();
        }
    }

    private void awaitInfo(Instance second, int before) throws InterruptedException {
        long end = System.nanoTime() + context.driver().adapter().startTimeout().toNanos();
        while (System.nanoTime() < end && !context.kubelet().awaitEvents(hasInfo(before), LOOK)) {
            Violation.unless(second.isAlive())
                    .because(
                            "a second instance of the driver, with a different POD_UID, ended:%n%s",
                            context.driver().log().strip());
        }
    }

    private static Predicate<List<KubeletEvent>> hasInfo(int before) {
        return events -> events.stream().skip(before).anyMatch(e -> e.kind() == Kind.INFO);
    }

    @Rule(value = "DRA-INFO-04", unregistered = true)
    void theVersionsBeginWithTheNewest() {
        List<String> versions = info().versions();
        int v1 = versions.indexOf(Service.V1.wireName());
        int v1beta1 = versions.indexOf(Service.V1BETA1.wireName());
        Violation.unless(v1 >= 0 || v1beta1 >= 0)
                .because(
                        "the supported versions %s have neither %s nor %s: no kubelet registers the driver",
                        versions, Service.V1.wireName(), Service.V1BETA1.wireName());
        Violation.unless(v1 < 0 || v1beta1 < 0 || v1 < v1beta1)
                .because(
                        "the supported versions are %s; the kubelet takes the first that it knows, which is the older one",
                        versions);
    }

    @Rule(value = "DRA-INFO-05", unregistered = true)
    void whatIsDeclaredIsServed() throws InterruptedException {
        declaredServicesAreServed();
        List<String> versions = info().versions();
        Set<String> served = served();
        served.forEach(service -> Violation.minorUnless(versions.contains(service))
                .because("the driver serves %s, but does not declare it: no kubelet will use it", service));
    }

    /** Checks the part of the rule that a kubelet depends on. */
    void declaredServicesAreServed() throws InterruptedException {
        List<String> versions = info().versions();
        Set<String> served = served();
        for (String service : known()) {
            Violation.unless(!versions.contains(service) || served.contains(service))
                    .because("the driver declares %s, but does not serve it: the call is UNIMPLEMENTED", service);
        }
    }

    /** The services that can be checked: no health without a kubelet's connection. */
    private List<String> known() {
        return Stream.concat(
                        Arrays.stream(Service.values()).map(Service::wireName),
                        context.driver().isReady()
                                ? Arrays.stream(Version.values()).map(Version::wireName)
                                : Stream.of())
                .toList();
    }

    private Set<String> served() throws InterruptedException {
        Set<String> served = new TreeSet<>();
        try (RawCalls calls = new RawCalls(RegistrationSocket.of(context).service())) {
            for (Service service : Service.values()) {
                RawCalls.Response answer = calls.call(PrepareMessages.method(service), new byte[0]);
                if (!answer.code().equals("UNIMPLEMENTED")) {
                    served.add(service.wireName());
                }
            }
        }
        if (context.driver().isReady()) {
            for (Version version : Version.values()) {
                if (servesHealth(version)) {
                    served.add(version.wireName());
                }
            }
        }
        return served;
    }

    private boolean servesHealth(Version version) throws InterruptedException {
        try (OpenHealthStream watch =
                context.kubelet().watchHealth(context.place().driver(), version)) {
            watch.awaitAll(all -> !all.isEmpty() || watch.end().isPresent(), Timeouts.FIRST_HEALTH);
            return !watch.end().equals(Optional.of("UNIMPLEMENTED"));
        }
    }

    @Rule("DRA-DECL-01")
    void whatIsDeclaredIsThere() throws InterruptedException {
        declaredServicesAreServed();
        List<String> declared = context.settings().driver().declares();
        Set<String> absent = new TreeSet<>(declared);
        absent.retainAll(SEEN);
        absent.removeAll(context.detected());
        Violation.unless(absent.isEmpty())
                .because(
                        "the settings declare %s, which the suite did not see; it saw %s",
                        absent, new TreeSet<>(context.detected()));
        TestedDriver.LACKING.forEach((lacking, gate) -> Violation.unless(
                        !declared.contains(lacking) || !context.detected().contains(gate))
                .because("the settings declare %s, but the driver has [%s]", lacking, gate));
        Set<String> undeclared = new TreeSet<>(OPTIONAL);
        undeclared.retainAll(context.detected());
        declared.forEach(undeclared::remove);
        if (!undeclared.isEmpty()) {
            context.remark("seen but not declared: " + undeclared);
        }
    }

    @Rule("DRA-VER-01")
    void bothVersionsAreServed() {
        List<String> versions = context.driver().info().versions();
        for (Service service : Service.values()) {
            Violation.unless(versions.contains(service.wireName()))
                    .because(
                            "the driver serves %s, but not %s; kubelets before 1.34 know only v1beta1, later ones prefer v1",
                            versions, service.wireName());
        }
    }

    @Rule("DRA-VER-02")
    void bothVersionsShareTheirState() {
        Leftovers leftovers = Leftovers.since(context);
        across(Service.V1, Service.V1BETA1, leftovers);
        across(Service.V1BETA1, Service.V1, leftovers);
    }

    private void across(Service one, Service other, Leftovers leftovers) {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        context.calls().use(one);
        Reported first = Reported.withoutShares(context.calls().prepared(claim));
        context.calls().use(other);
        Reported second = Reported.withoutShares(context.calls().prepared(claim));
        Violation.unless(first.equals(second))
                .because(
                        "the same claim is answered %s by %s and %s by %s",
                        first, one.wireName(), second, other.wireName());
        context.calls().unprepared(claim);
        leftovers.none("after a prepare by %s and an unprepare by %s".formatted(one.wireName(), other.wireName()));
        KubeletClaim next = context.claims().allocate(context.devices().one());
        context.calls().use(one);
        context.calls().prepared(next);
        context.calls().unprepared(next);
    }

    @Rule("DRA-VER-03")
    void theUnknownIsUnimplementedOrIgnored() {
        try (RawCalls calls = new RawCalls(context.driver().info().endpoint())) {
            for (String method : List.of(
                    "k8s.io.kubelet.pkg.apis.dra.v9.DRAPlugin/NodePrepareResources",
                    PrepareMessages.method(context.driver().info().service()) + "Tomorrow",
                    "v9.DRAPlugin/X")) {
                RawCalls.Response answer = calls.call(method, new byte[0]);
                context.transcript().note(method + " -> " + answer);
                Violation.unless(answer.code().equals("UNIMPLEMENTED"))
                        .because(
                                "the unknown method %s is answered %s, where UNIMPLEMENTED is required",
                                method, answer);
            }
            if (!context.devices().usable().isEmpty()) {
                unknownFieldsAreIgnored(calls);
            }
        }
    }

    private void unknownFieldsAreIgnored(RawCalls calls) {
        KubeletClaim claim = context.claims().allocate(context.devices().one());
        RawCalls.Response answer = calls.call(
                PrepareMessages.method(context.driver().info().service()),
                PrepareMessages.requestOfALaterVersion(List.of(claim)));
        context.transcript().note("prepare with unknown fields -> " + answer);
        Violation.unless(answer.code().equals("OK"))
                .about("DRA-PREP-01")
                .because("a prepare with fields of a later version failed: %s", answer);
        Map<String, ClaimResult> answers = PrepareMessages.results(answer.message());
        ClaimResult one = answers.get(claim.uid());
        Violation.unless(one != null && one.error().isEmpty())
                .about("DRA-PREP-01")
                .because(
                        "a prepare with fields of a later version is answered %s",
                        one == null ? "not at all" : one.error());
        context.calls().holds(claim);
        Violation.unless(Reported.withoutShares(one)
                        .equals(Reported.withoutShares(context.calls().prepared(claim))))
                .about("DRA-PREP-05")
                .because("fields of a later version changed the answer to a prepare: %s", Reported.of(one));
    }

    @ExecutionGroup.On(ExecutionGroup.FAULTS)
    @Rule("DRA-VER-04")
    void anApiServerMayServeTheNewestVersionAlone() {
        context.inject(Fault.status(404, "NotFound").on(r -> r.path().startsWith("/apis/resource.k8s.io/v1alpha")));
        context.inject(Fault.status(404, "NotFound").on(r -> r.path().startsWith("/apis/resource.k8s.io/v1beta")));
        if (context.driver().adapter().controlsProcess()) {
            context.driver().terminate();
            new Publishing(context).wipe(); // earlier slices prove nothing
            context.driver().restarted();
        }
        Violation.unless(context.awaitPools())
                .because("with an API server that serves only resource.k8s.io/v1, no device is published");
        context.calls().prepared(context.claims().allocate(context.devices().one()));
    }
}
