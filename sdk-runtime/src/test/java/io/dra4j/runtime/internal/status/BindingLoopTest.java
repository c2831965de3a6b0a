// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static io.dra4j.runtime.ScenarioSteps.assertNumber;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.runtime.internal.cluster.ClaimFeed;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.Watch;
import io.dra4j.runtime.internal.publish.ManualLoop;
import io.dra4j.testkit.Scenarios;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** A loop that binds devices, second by second, as binding-loop.txt says. */
class BindingLoopTest implements ScenarioSteps {

    private static final String AWAITED =
            ",'request':'r/s','bindingConditions':['Attached','Warm'],'bindingFailureConditions':['Failed']";

    private final ManualLoop loop = new ManualLoop();
    private final FakeStatuses statuses = new FakeStatuses();
    private final FakeFeed feed = new FakeFeed();
    private final List<PendingDevice> requested = new ArrayList<>();
    private List<Condition> answer = List.of();
    private @Nullable RuntimeException failure;
    private RandomGenerator random = RandomGenerator.getDefault();
    private boolean knowsPools = true;
    private Duration setBack = Duration.ZERO;
    private BindingLoop started;

    private static final class FakeFeed implements ClaimFeed {
        private List<String> claims = List.of();
        private int lists;
        private final Deque<Throwable> failures = new ArrayDeque<>();
        private final List<Watch.Listener<String>> listeners = new ArrayList<>();

        @Override
        public String list(Consumer<String> claim) {
            lists++;
            claims.forEach(claim);
            if (failures.peek() instanceof Error) {
                throw (Error) failures.remove();
            } else if (!failures.isEmpty()) {
                throw (RuntimeException) failures.remove();
            }
            return "1";
        }

        @Override
        public Watch watch(String resourceVersion, Watch.Listener<String> changes) {
            listeners.add(changes);
            return () -> {};
        }

        private Watch.Listener<String> listener() {
            return listeners.get(listeners.size() - 1);
        }
    }

    private void start() throws Exception {
        started = new BindingLoop(
                new BindingLoop.Parts(
                        "d.example.com",
                        "node",
                        this::bind,
                        () -> knowsPools,
                        new PoolName("node")::equals,
                        feed,
                        statuses,
                        () -> loop.instant().minus(setBack)),
                loop,
                random);
        step("advance 0");
    }

    private List<Condition> bind(PendingDevice device) {
        requested.add(device);
        if (failure != null) {
            throw failure;
        }
        return answer;
    }

    /** Makes a claim, of which some words may say that it is another. */
    private String claim(String words) {
        String uid = "uid-1";
        String name = "c";
        String device = "'driver':'d.example.com','pool':'node','device':'gpu-0'";
        String set = "";
        for (String word : words.split(" ")) {
            String value = word.substring(word.indexOf('=') + 1);
            switch (word.split("=")[0]) {
                case "uid" -> uid = value;
                case "name" -> name = value;
                case "driver" -> device = device.replace("d.example.com", value);
                case "pool" -> device = device.replace("'pool':'node'", "'pool':'%s'".formatted(value));
                case "device" -> device = device.replace("gpu-0", value);
                case "set" -> set = value;
                default -> assertThat(word).isIn("awaits", "plain");
            }
        }
        String conditions = Stream.of(set.split(","))
                .map(each -> each.split(":"))
                .map(each -> "{'type':'%s','status':'%s','reason':'R','message':'','lastTransitionTime':'t'}"
                        .formatted(each[0], each.length == 1 ? "True" : each[1]))
                .collect(Collectors.joining(","));
        return "{'metadata':{'namespace':'ns','name':'%s','uid':'%s'},'status':{'allocation':{'devices':{'results':[{%s}]}},'devices':[%s]}}"
                .formatted(
                        name,
                        uid,
                        device + (words.startsWith("awaits") ? AWAITED : ""),
                        set.equals("last")
                                ? statuses.last().devices().get(0)
                                : set.isEmpty() ? "" : "{%s,'conditions':[%s]}".formatted(device, conditions))
                .replace('\'', '"');
    }

    private List<String> claims(String text) {
        return Stream.of(text.split(" \\| "))
                .filter(words -> !words.isEmpty())
                .map(this::claim)
                .toList();
    }

    private static Throwable failure(String what) {
        return switch (what) {
            case "bug" -> new IllegalStateException("odd");
            case "no-thread" -> new OutOfMemoryError("unable to create native thread");
            case "overflow" -> new StackOverflowError();
            case "forbidden" -> new ClusterException.Forbidden("no", "update", "resourceclaims/status");
            case "429" -> new ClusterException("too many requests", 429, Duration.ofSeconds(30));
            default -> new ClusterException("no answer", Integer.parseInt(what), null);
        };
    }

    private static Condition condition(String text) {
        String reason = text.endsWith("=") ? "two words" : "Because";
        return new Condition(text.replace("=", ""), ConditionStatus.TRUE, reason, "");
    }

    @Override
    public void run(String[] words, String text) throws Exception {
        switch (words[0]) {
            case "start" -> {
                feed.claims = claims(text);
                start();
            }
            case "claims" -> feed.claims = claims(text);
            case "answer" ->
                answer =
                        Stream.of(words).skip(1).map(BindingLoopTest::condition).toList();
            case "fails" -> failure = words[1].equals("yes") ? new IllegalStateException("cable") : null;
            case "lists-fail" -> Stream.of(words).skip(1).forEach(what -> feed.failures.add(failure(what)));
            case "statuses-fail" ->
                Stream.of(words).skip(1).forEach(what -> statuses.failures.add((RuntimeException) failure(what)));
            case "pools" -> knowsPools = words[1].equals("known");
            case "random" -> random = () -> Long.parseLong(words[1]);
            case "clock-is-set-back" -> setBack = Duration.ofDays(30);
            case "advance" -> loop.advance(Duration.parse("PT" + words[1] + "S"));
            case "changed" -> feed.listener().changed(claim(text));
            case "deleted" -> feed.listener().deleted(claim(text));
            case "bookmark" -> feed.listener().bookmark();
            case "watch-ends" -> feed.listener().ended("timeout");
            case "first-watch-changed" -> feed.listeners.get(0).changed(claim(text));
            case "first-watch-ends" -> feed.listeners.get(0).ended("at last");
            case "close" -> started.close();
            case "requested" -> assertNumber(requested.size(), words, text);
            case "applied" -> assertNumber(statuses.applied.size(), words, text);
            case "tries" -> assertNumber(statuses.tries, words, text);
            case "lists" -> assertNumber(feed.lists, words, text);
            case "last-has" ->
                assertThat(statuses.last().devices()).singleElement().asString().contains(text.split(" "));
            case "last-lacks" ->
                assertThat(statuses.last().devices()).singleElement().asString().doesNotContain(text);
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Scenarios("binding-loop.txt")
    void conditionsAreSetAsTheyCome(String scenario) throws Exception {
        play(scenario);
    }

    @Test
    void asksUntilAllConditionsHoldAndSetsThem() throws Exception {
        play("start : awaits\nrequested : 1\napplied : 0");
        assertThat(requested.get(0).request()).isEqualTo("r");
        assertThat(requested.get(0).binding().conditions()).containsExactly("Attached", "Warm");

        play("answer Attached\nadvance 5\nanswer Warm\nadvance 5\nadvance 60\nrequested : 3\napplied : 2");

        assertThat(statuses.last().fieldManager()).isEqualTo("d.example.com-binding/node");
        assertThat(statuses.last().devices())
                .containsExactly(("{'driver':'d.example.com','pool':'node','device':'gpu-0','conditions':["
                                + "{'type':'Attached','status':'True','reason':'Because','message':'','lastTransitionTime':'2026-11-21T00:00:05Z'},"
                                + "{'type':'Warm','status':'True','reason':'Because','message':'','lastTransitionTime':'2026-11-21T00:00:10Z'}]}")
                        .replace('\'', '"'));
    }
}
