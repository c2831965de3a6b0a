// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.simulation.api;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.KubernetesVersion;
import io.dra4j.simulation.schedule.Process;
import io.dra4j.simulation.schedule.Simulation;
import io.dra4j.simulation.schedule.Trace;
import io.dra4j.testkit.apiserver.model.JsonTrees;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The client and the server of a simulation: what is delivered, and the effect of each fault at both ends. */
class SimulatedHttpClientTest {

    private static final String NODES = "/api/v1/nodes";
    private static final String WATCH = NODES + "?watch=true&resourceVersion=0&allowWatchBookmarks=true";
    private static final long LONGEST = Duration.ofMinutes(5).toNanos();

    private Fate fate = Fate.PROCEED;
    private final List<Call> calls = new ArrayList<>();

    /** The server and a client of a run. */
    private final class World {
        final SimulatedApiServer server =
                new SimulatedApiServer(SimulatedHttpClientTest.this::fate, settings -> settings.node("n"));
        final Process process = Simulation.newProcess("driver", "");
        final HttpClient client = new SimulatedHttpClient(server, process);

        <T> CompletableFuture<HttpResponse<T>> send(String method, String path, String body, BodyHandler<T> handler) {
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://server" + path))
                    .header("Authorization", "Bearer one")
                    .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
            return client.sendAsync(request.build(), handler);
        }

        /** The code and the reason of the answer, or the failure; "none" if none came. */
        String outcome(String method, String path, String body) {
            CompletableFuture<HttpResponse<String>> sent = send(method, path, body, BodyHandlers.ofString());
            if (!Simulation.await(sent::isDone, LONGEST)) {
                return "none";
            }
            return sent.handle((answer, failure) -> failure == null ? outcome(answer) : failure.getMessage())
                    .join();
        }

        private String outcome(HttpResponse<String> answer) {
            String label = answer.statusCode() == 200
                    ? JsonTrees.parse(answer.body())
                            .at("/items/0/metadata/labels/is")
                            .asText()
                    : "";
            String later = answer.headers()
                    .firstValue("Retry-After")
                    .map(" after "::concat)
                    .orElse("");
            return answer.statusCode() + (label.isEmpty() ? "" : " " + label) + later;
        }

        List<String> watch(String path) {
            List<String> lines = new ArrayList<>();
            send("GET", path, "", BodyHandlers.fromLineSubscriber(new Flow.Subscriber<String>() {
                @Override
                public void onSubscribe(Flow.Subscription subscription) {
                    subscription.request(Long.MAX_VALUE);
                }

                @Override
                public void onNext(String line) {
                    JsonNode event = JsonTrees.parse(line);
                    lines.add(event.path("type").asText() + " "
                            + event.at("/object/metadata/name").asText()
                            + event.at("/object/code").asText());
                }

                @Override
                public void onError(Throwable failure) {
                    lines.add(String.valueOf(failure.getMessage()));
                }

                @Override
                public void onComplete() {
                    lines.add("end");
                }
            }));
            return lines;
        }

        JsonNode put(String name) {
            return server.objects()
                    .put(JsonTrees.parse(
                            "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"" + name + "\"}}"));
        }

        JsonNode node() {
            return server.objects().find("nodes", "", "n").orElseThrow();
        }

        String renamed(String label) {
            JsonNode node = node();
            JsonTrees.metadata((ObjectNode) node).putObject("labels").put("is", label);
            return node.toString();
        }

        void pass(int seconds) {
            Simulation.await(() -> false, Duration.ofSeconds(seconds).toNanos());
        }
    }

    private Fate fate(Call call) {
        calls.add(call);
        return fate;
    }

    private long run(long seed, Consumer<World> director) {
        Trace trace = new Trace(50);
        try {
            Simulation.run(seed, trace, () -> director.accept(new World()));
        } catch (Throwable e) {
            throw new AssertionError(trace.lines().toString(), e);
        }
        return trace.sum();
    }

    @Test
    void eachBodyHandlerGetsTheSame() {
        run(1, world -> {
            byte[] bytes = got(world, BodyHandlers.ofByteArray());
            assertThat(JsonTrees.parse(new String(bytes, UTF_8))
                            .at("/items/0/metadata/name")
                            .asText())
                    .isEqualTo("n");
            assertThat(got(world, BodyHandlers.ofString())).isEqualTo(new String(bytes, UTF_8));
            try (InputStream stream = got(world, BodyHandlers.ofInputStream())) {
                assertThat(stream.readAllBytes()).isEqualTo(bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            assertThat(got(world, BodyHandlers.ofLines())).containsExactly(new String(bytes, UTF_8));
            assertThat(calls.get(0)).isEqualTo(new Call("list", "nodes", "", "", false));
        });
    }

    private static <T> T got(World world, BodyHandler<T> handler) {
        CompletableFuture<HttpResponse<T>> sent = world.send("GET", NODES, "", handler);
        assertThat(Simulation.await(sent::isDone, LONGEST)).isTrue();
        assertThat(sent.join().statusCode()).isEqualTo(200);
        assertThat(sent.join().headers().firstValue("content-type")).contains("application/json");
        return sent.join().body();
    }

    /** The outcome of an update, and whether the object has changed. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            NONE,           200,                        true
            REFUSED,        Connection refused,         false
            LOST,           none,                       false
            RESET,          Connection reset,           false
            ANSWER_LOST,    none,                       true
            ANSWER_RESET,   Connection reset,           true
            ANSWER_CUT,     EOF reached while reading,  true
            TIMED_OUT_LATE, 504,                        true
            FAILED_LATE,    500,                        true
            TIMED_OUT,      504,                        false
            FAILED,         500,                        false
            UNAVAILABLE,    503,                        false
            UNAUTHORIZED,   401,                        false
            THROTTLED,      429 after 7,                     false
            SLOW,           200,                        true
            LATE,           200,                        true
            CONFLICT,       409,                        false
            """)
    void aFaultOfAnUpdateHasItsEffectAndItsAnswer(Fault fault, String outcome, boolean hasEffect) {
        fate = new Fate(fault, 7);
        run(1, world -> {
            long start = Simulation.nanoTime();
            assertThat(world.outcome("PUT", NODES + "/n", world.renamed("new"))).isEqualTo(outcome);
            assertThat(world.node().at("/metadata/labels/is").asText()).isEqualTo(hasEffect ? "new" : "");
            long seconds = Duration.ofNanos(Simulation.nanoTime() - start).toSeconds();
            assertThat(seconds)
                    .isEqualTo(outcome.equals("none") ? 300 : fault == Fault.SLOW || fault == Fault.LATE ? 7 : 0);
        });
    }

    @ParameterizedTest
    @CsvSource({
        "resourceVersion=0,    200 old",
        "a=b&resourceVersion=0,200 old",
        "resourceVersion=1,    200 new",
        "limit=5,              200 new"
    })
    void aStaleListIsOneThatTheServerMayAnswerSo(String query, String outcome) {
        fate = new Fate(Fault.STALE, 1);
        run(1, world -> {
            world.server.objects().put(JsonTrees.parse(world.renamed("old")));
            world.server.objects().put(JsonTrees.parse(world.renamed("new")));
            assertThat(world.outcome("GET", NODES + "?" + query, "")).isEqualTo(outcome);
        });
        assertThat(Fault.STALE.fits(calls.get(0))).isEqualTo(outcome.endsWith("old"));
    }

    /** The lines of a watch, when one node exists, and two more are created. */
    @ParameterizedTest
    @CsvSource(textBlock = """
            NONE,           ADDED n|ADDED a|ADDED b
            SLOW,           ADDED n|ADDED a|ADDED b
            WATCH_LATE,     ADDED n|ADDED a|ADDED b
            WATCH_ENDED,    ADDED n|end
            WATCH_RESET,    ADDED n|Connection reset
            WATCH_EXPIRED,  ADDED n|ERROR 410|end
            WATCH_SILENT,   ADDED n
            """)
    void aFaultOfAWatchLosesNoEventInBetween(Fault fault, String lines) {
        fate = new Fate(fault, 1);
        Set<List<String>> seen = new HashSet<>();
        for (long seed = 0; seed < 20; seed++) { // pieces are cut elsewhere
            run(seed, world -> {
                List<String> watched = world.watch(WATCH + "&timeoutSeconds=600");
                world.pass(1);
                world.put("a");
                world.put("b");
                world.pass(30);
                seen.add(List.copyOf(watched));
            });
        }
        assertThat(seen).containsExactly(List.of(lines.split("\\|")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void aClientThatGivesUpOrIsKilledGetsNothingMoreAndHasItsEffect(boolean isKilled) {
        run(1, world -> {
            List<String> watched = world.watch(WATCH);
            world.pass(1);
            CompletableFuture<HttpResponse<String>> sent =
                    world.send("PUT", NODES + "/n", world.renamed("new"), BodyHandlers.ofString());
            if (isKilled) {
                world.process.kill();
            } else {
                sent.cancel(true);
            }
            world.pass(1);
            assertThat(world.node().at("/metadata/labels/is").asText()).isEqualTo("new");
            assertThat(sent.isDone() && !sent.isCancelled()).isFalse();
            world.put("a");
            assertThat(watched)
                    .containsExactly(isKilled ? new String[] {"ADDED n"} : new String[] {"ADDED n", "MODIFIED n"});
            assertThat(world.server.api().openWatches()).isEqualTo(isKilled ? 0 : 1);
        });
    }

    @Test
    void aRestartEndsConnectionsAndForgetsTheHistory() {
        run(3, world -> {
            List<String> followed = new ArrayList<>();
            world.server
                    .objects()
                    .follow("nodes", (before, after) -> followed.add((before == null) + " " + (after == null)));
            String revision = world.put("a").at("/metadata/resourceVersion").asText();
            List<String> watched = world.watch(WATCH + "&timeoutSeconds=600");
            world.pass(1);
            CompletableFuture<HttpResponse<String>> sent =
                    world.send("PUT", NODES + "/n", world.renamed("new"), BodyHandlers.ofString());

            world.server.stop();
            assertThat(world.outcome("GET", NODES, "")).isEqualTo("Connection refused");
            world.server.start(settings -> settings.version(KubernetesVersion.V1_34));
            world.put("b");
            world.server.objects().delete("nodes", "", "a");

            world.pass(1);
            assertThat(sent).isCompletedExceptionally();
            assertThat(world.node().at("/metadata/labels/is").asText()).isEmpty();
            assertThat(watched).containsExactly("ADDED a", "ADDED n", "Connection reset");
            assertThat(world.outcome("GET", NODES + "?watch=true&resourceVersion=1", ""))
                    .isEqualTo("200");
            List<String> tooOld = world.watch(NODES + "?watch=true&resourceVersion=" + (Long.parseLong(revision) - 1));
            world.pass(1);
            assertThat(tooOld).containsExactly("ERROR 410", "end");
            assertThat(followed).containsExactly("true false", "true false", "true false", "false true");
        });
    }

    @Test
    void onlyTheCredentialsOfNowAreTrusted() {
        run(1, world -> {
            world.server.trust("Bearer two");
            assertThat(world.outcome("GET", NODES, "")).isEqualTo("401");
            world.server.trust("Bearer one");
            assertThat(world.outcome("GET", NODES, "")).isEqualTo("200");
        });
    }

    @Test
    void aDriversSlicesOfANodeAreWiped() {
        run(1, world -> {
            for (String name : List.of("d-n", "d-m", "e-n")) {
                String[] parts = name.split("-");
                world.server.objects().put(JsonTrees.parse("""
                        {"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"%s"},"spec":{
                        "driver":"%s","nodeName":"%s","pool":{"name":"p","generation":1,"resourceSliceCount":1}}}""".formatted(name, parts[0], parts[1])));
            }
            world.server.wipe("d", "n");
            assertThat(world.server.objects().list("resourceslices"))
                    .extracting(slice -> slice.at("/metadata/name").asText())
                    .containsExactly("d-m", "e-n");
        });
    }

    @Test
    void theSameSeedGivesTheSameBytes() {
        LongUnaryOperator sum = seed -> run(seed, this::faulty);
        assertThat(LongStream.range(0, 20).map(sum).toArray())
                .isEqualTo(LongStream.range(0, 20).map(sum).toArray())
                .doesNotHaveDuplicates();
    }

    /** Requests and a watch with all kinds of faults; the outcome of each is in the trace. */
    private void faulty(World world) {
        fate = Fate.PROCEED;
        List<String> watched = world.watch(WATCH);
        for (int i = 0; i < 20; i++) {
            fate = Fate.drawn(new Call("update", "nodes", "", "n", false), Simulation.random());
            Simulation.step(fate + " " + world.outcome("PUT", NODES + "/n", world.renamed("is" + i)) + world.node());
            world.put("n" + i);
        }
        Simulation.step(watched.toString());
    }

    @Test
    void eachFaultIsDrawnForSomeRequest() {
        EnumSet<Fault> drawn = EnumSet.of(Fault.NONE);
        SplittableRandom random = new SplittableRandom(1);
        for (Call call : List.of(
                new Call("create", "nodes", "", "", false),
                new Call("update", "nodes", "", "n", false),
                new Call("watch", "nodes", "", "", false),
                new Call("list", "nodes", "", "", true))) {
            for (int i = 0; i < 500; i++) {
                drawn.add(Fate.drawn(call, random).fault());
            }
        }
        assertThat(drawn).containsExactly(Fault.values());
    }
}
