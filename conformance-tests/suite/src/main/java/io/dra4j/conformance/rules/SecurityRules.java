// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Untested;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.Absent;
import io.dra4j.conformance.probes.Globs;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.testkit.http.PathSegments;
import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimResult;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Injection;
import io.dra4j.testkit.proxy.RecordedRequest;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Rules for a driver's sockets, files, secrets and rights. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record SecurityRules(TestContext context) {

    private static final int LONGEST_ERROR = 4096;

    /** A driver may try again until the kubelet gives up. */
    private static final Duration LONG_ENOUGH = Duration.ofSeconds(5);

    private static final Set<String> NEEDED = Set.of(
            "GET one resourceclaims",
            "PATCH one resourceclaims",
            "PUT one resourceclaims",
            "GET one nodes",
            "GET one resourceslices",
            "GET all resourceslices",
            "POST all resourceslices",
            "PUT one resourceslices",
            "PATCH one resourceslices",
            "DELETE one resourceslices",
            "POST all events",
            "PATCH one events",
            "PUT one events",
            "POST all selfsubjectaccessreviews", // allowed to every user, like the next ones
            "POST all selfsubjectrulesreviews",
            "POST all selfsubjectreviews");

    @Rule("DRA-SEC-01")
    void socketsAreClosedToOthers() throws IOException {
        RegistrationSocket registration = RegistrationSocket.of(context);
        isClosed(registration.path(), context.place().registry());
        isClosed(registration.service(), context.place().plugins());
    }

    /** Directories from here on up are the suite's own, not the driver's. */
    private static void isClosed(Path socket, Path suites) throws IOException {
        Violation.unless(socket.isAbsolute())
                .because("the driver names its socket %s, which is not an absolute path", socket);
        Violation.unless(Files.exists(socket)).because("the driver's socket %s does not exist", socket);
        boolean open = Files.getPosixFilePermissions(socket).contains(PosixFilePermission.OTHERS_WRITE);
        for (Path above = socket.getParent();
                open && above != null && !above.equals(suites);
                above = above.getParent()) {
            open = Files.getPosixFilePermissions(above).contains(PosixFilePermission.OTHERS_EXECUTE);
        }
        Violation.unless(!open).because("every user may connect to the socket %s", socket);
    }

    @Rule("DRA-SEC-02")
    void hostileNamesGoNowhere() throws IOException {
        KubeletClaim real = context.claims().allocate(Absent.anyDevice(context));
        HostileNames hostile = new HostileNames(context);
        int number = context.proxy().lastNumber();
        for (KubeletClaim claim : hostile.claims(real)) {
            hostile.calling(claim);
            context.calls().prepare(claim);
            context.calls().unprepare(claim);
        }
        Violation.unless(context.driver().current().isAlive())
                .because(
                        "the driver ended when it was called with hostile names: %s",
                        context.driver().fate());
        hostile.checkFiles();
        for (RecordedRequest request : context.proxy().requests(Requests.after(number))) {
            hostile.checkPath(request);
        }
    }

    @ExecutionGroup.On(ExecutionGroup.RESTARTS)
    @Rule("DRA-SEC-04")
    void nothingGivesCredentialsAway() throws IOException {
        String token = "t0k3n-0f-dra-c0nf0rmanc3-" + Math.abs(context.random().nextLong());
        Path credentials = credentials();
        String before = Files.readString(credentials);
        Files.writeString(credentials, withToken(before, token));
        Path log = context.place().log();
        long length = log.toFile().length();
        try {
            context.driver().restart();
            for (Fault fault : List.of(
                    Fault.status(401, "Unauthorized"),
                    Fault.status(403, "Forbidden"),
                    Fault.status(500, "InternalError"),
                    Fault.drop())) {
                errors(fault).forEach(error -> isDiscreet(error, token));
            }
            Untested.unless(Files.exists(log), "driver.external.log does not name a file, so the log is not known");
            byte[] all = Files.readAllBytes(log);
            int from = length > all.length ? 0 : (int) length; // it may have been rotated
            String written = new String(all, from, all.length - from, StandardCharsets.UTF_8);
            Violation.unless(!written.contains(token))
                    .because("the driver writes its token for the API server into its log");
        } finally {
            Files.writeString(credentials, before);
        }
    }

    /** The file from which the driver may read a token. */
    private Path credentials() {
        Path file = context.place().serviceAccount().resolve("token");
        return Files.exists(file) ? file : context.place().kubeconfig();
    }

    private static String withToken(String before, String token) {
        return before.contains("user: {}") ? before.replace("user: {}", "user: {token: " + token + "}") : token;
    }

    private List<String> errors(Fault fault) {
        try (Injection broken = context.inject(fault.on(Requests.to("resourceclaims")))) {
            KubeletClaim claim = context.claims().allocate(Absent.anyDevice(context));
            CallResult result = context.calls().prepareWithin(LONG_ENOUGH, claim);
            context.transcript().note("the API server failed the driver: " + broken.over());
            List<String> errors = new ArrayList<>(List.of(result.status()));
            Optional.ofNullable(result.results().get(claim.uid()))
                    .map(ClaimResult::error)
                    .ifPresent(errors::add);
            return errors;
        }
    }

    private static void isDiscreet(String error, String token) {
        Violation.unless(!error.contains(token)).because("an error contains the token of the driver");
        int bytes = error.getBytes(StandardCharsets.UTF_8).length;
        Violation.unless(bytes <= LONGEST_ERROR)
                .because(
                        "an error has %d bytes, more than %d: %s",
                        bytes, LONGEST_ERROR, error.substring(0, Math.min(200, error.length())));
        Violation.unless(error.indexOf('\ufffd') < 0).because("an error is not valid UTF-8: %s", error);
    }

    @Rule("DRA-SEC-05")
    void onlyNeededVerbsAreUsed() {
        context.attemptClaim();
        for (RecordedRequest request : context.proxy().requests()) {
            Violation.unless(request.resource().isEmpty() || isNeeded(request))
                    .because(
                            "the driver asks the API server for more than it needs: %s %s",
                            request.method(), request.path());
        }
    }

    private static boolean isNeeded(RecordedRequest request) {
        boolean one =
                !request.name().isEmpty() || request.query("fieldSelector").contains("metadata.name=");
        String verb = "%s %s %s".formatted(request.method(), one ? "one" : "all", request.resource());
        return NEEDED.contains(verb);
    }

    /** Malicious names, and the places where their effects would show. */
    private static final class HostileNames {

        /** The path of a claim without its namespace and its name. */
        private static final Pattern CLAIM =
                Pattern.compile("apis/resource\\.k8s\\.io/[^/]+/namespaces//resourceclaims/(/status)?");

        private static final int NAMESPACE = 4; // behind apis, group, version, "namespaces"
        private static final int NAME = 6;

        private final TestContext context;
        private final String mark;
        private final Path own;
        private final List<String> names;
        private final Set<String> before;
        private final NavigableMap<Integer, List<KubeletClaim>> calls = new TreeMap<>();

        HostileNames(TestContext context) throws IOException {
            this.context = context;
            mark = "escaped-" + UUID.randomUUID(); // others may look at /tmp, too
            own = RegistrationSocket.of(context).service().getParent();
            names = names(mark);
            before = marked();
        }

        private static List<String> names(String mark) throws IOException {
            try (InputStream file = HostileNames.class.getResourceAsStream("hostile-names.yaml")) {
                List<String> listed = List.of(new YAMLMapper().readValue(file, String[].class));
                List<String> lengthy = List.of(mark + "x".repeat(254), mark + "x".repeat(4096), "\u4e2d".repeat(1366));
                return Stream.of(listed, lengthy)
                        .flatMap(List::stream)
                        .map(name -> name.replace("MARK", mark))
                        .toList();
            }
        }

        /** Each name as UID, as namespace and as name of an otherwise existing claim. */
        public List<KubeletClaim> claims(KubeletClaim real) {
            List<KubeletClaim> claims = new ArrayList<>();
            for (String name : names) {
                claims.add(new KubeletClaim(real.namespace(), real.name(), name));
                claims.add(new KubeletClaim(name, real.name(), mark + "-1-" + claims.size()));
                claims.add(new KubeletClaim(real.namespace(), name, mark + "-2-" + claims.size()));
            }
            return claims;
        }

        /** Files with the mark, except for those in the driver's own directory and in those of CDI. */
        private Set<String> marked() throws IOException {
            Set<String> found = new TreeSet<>();
            List<Path> all = Globs.below(context.place().root());
            try (Stream<Path> tmp = Files.list(Path.of("/tmp"))) {
                Stream.concat(all.stream(), tmp)
                        .filter(file -> file.getFileName().toString().contains(mark))
                        .filter(file -> !file.startsWith(own)
                                || own.equals(context.place().plugins()))
                        .filter(file -> !context.cdi().folders().contains(file.getParent()))
                        .forEach(file -> found.add(file.toString()));
            }
            return found;
        }

        /** Asserts that no file with such a name is where it should not be. */
        public void checkFiles() throws IOException {
            Set<String> now = marked();
            now.removeAll(before);
            try {
                Violation.unless(now.isEmpty())
                        .because(
                                "a hostile UID, name or namespace reached files outside the driver's own directories: %s",
                                now);
            } finally {
                for (String file : now) {
                    Files.deleteIfExists(Path.of(file));
                }
            }
        }

        /** From now on the driver may also ask for this claim. */
        public void calling(KubeletClaim claim) {
            calls.computeIfAbsent(context.proxy().lastNumber(), number -> new ArrayList<>())
                    .add(claim);
        }

        /** Asserts that a request with one of the names asks for a claim of a call. */
        public void checkPath(RecordedRequest request) {
            boolean ours = segments(request.path()).toString().contains(mark)
                    || request.resource().equals("resourceclaims");
            Violation.unless(!ours || isOfOneClaim(request) && !request.watch())
                    .because(
                            "a hostile name or namespace altered the API path of a request: %s %s",
                            request.method(), request.path());
        }

        private boolean isOfOneClaim(RecordedRequest request) {
            List<String> path = segments(request.path());
            if (path.size() <= NAME || !CLAIM.matcher(shape(path)).matches()) {
                return false;
            }
            List<KubeletClaim> known = calls.headMap(request.number()).values().stream()
                    .flatMap(List::stream)
                    .toList();
            return isWhole(path.get(NAMESPACE), known.stream().map(KubeletClaim::namespace))
                    && isWhole(path.get(NAME), known.stream().map(KubeletClaim::name));
        }

        /** The path without the segments that hold names. */
        private static String shape(List<String> path) {
            List<String> shape = new ArrayList<>(path);
            shape.set(NAMESPACE, "");
            shape.set(NAME, "");
            return String.join("/", shape);
        }

        /** Compares names: one that is cut, or decoded twice, is not the requested one. */
        private boolean isWhole(String segment, Stream<String> asked) {
            boolean dots = segment.equals(".") || segment.equals("..");
            return !dots && (!segment.contains(mark) || asked.anyMatch(segment::equals));
        }

        private static List<String> segments(String path) {
            try {
                return PathSegments.of(path);
            } catch (IllegalArgumentException e) {
                return List.of(path); // The API server refuses it.
            }
        }
    }
}
