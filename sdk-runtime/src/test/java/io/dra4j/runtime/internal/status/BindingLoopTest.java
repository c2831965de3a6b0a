// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.ReadinessCheck.PendingDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.device.PoolName;
import io.dra4j.runtime.internal.cluster.ClaimFeed;
import io.dra4j.runtime.internal.cluster.ClusterException;
import io.dra4j.runtime.internal.cluster.Watch;
import io.dra4j.runtime.internal.publish.ManualLoop;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BindingLoopTest {

    private static final String OWN = "{'driver':'d.example.com','pool':'node','device':'gpu-0'";
    private static final String AWAITED =
            ",'request':'r/s','bindingConditions':['Attached','Warm'],'bindingFailureConditions':['Failed']}";

    private final ManualLoop loop = new ManualLoop();
    private final FakeStatuses statuses = new FakeStatuses();
    private final FakeFeed feed = new FakeFeed();
    private final List<PendingDevice> requested = new ArrayList<>();
    private List<Condition> answer = List.of();
    private @Nullable RuntimeException failure;
    private RandomGenerator random = RandomGenerator.getDefault();

    private static final class FakeFeed implements ClaimFeed {
        private List<String> claims = List.of();
        private int outage;
        private int lists;
        private Runnable beforeList = () -> {};
        private Watch.@Nullable Listener<String> listener;

        @Override
        public Snapshot list() {
            lists++;
            beforeList.run();
            if (outage-- > 0) {
                throw new ClusterException("no answer", 500, null);
            }
            return new Snapshot(claims, "1");
        }

        @Override
        public Watch watch(String resourceVersion, Watch.Listener<String> changes) {
            listener = changes;
            return () -> {};
        }
    }

    private Duration setBack = Duration.ZERO;

    private BindingLoop start(String... claims) {
        feed.claims = List.of(claims);
        BindingLoop started = new BindingLoop(
                new BindingLoop.Parts(
                        "d.example.com",
                        "node",
                        this::bind,
                        new PoolName("node")::equals,
                        feed,
                        statuses,
                        () -> loop.instant().minus(setBack)),
                loop,
                random);
        advance(0);
        return started;
    }

    private List<Condition> bind(PendingDevice device) {
        requested.add(device);
        if (failure != null) {
            throw failure;
        }
        return answer;
    }

    private void advance(int seconds) {
        loop.advance(Duration.ofSeconds(seconds));
    }

    private static String claim(String results, String devices) {
        return ("{'metadata':{'namespace':'ns','name':'c','uid':'uid-1'},'status':{'allocation':{'devices':{'results':["
                        + results
                        + "]}},'devices':["
                        + devices
                        + "]}}")
                .replace('\'', '"');
    }

    private static Condition condition(String type, ConditionStatus status) {
        return new Condition(type, status, "Because", "");
    }

    @Test
    void asksUntilAllConditionsHoldAndSetsThem() {
        start(claim(OWN + AWAITED, ""));
        assertThat(requested).hasSize(1);
        assertThat(requested.get(0).request()).isEqualTo("r");
        assertThat(requested.get(0).binding().conditions()).containsExactly("Attached", "Warm");
        assertThat(statuses.applied).isEmpty();

        answer = List.of(condition("Attached", ConditionStatus.TRUE));
        advance(5);
        answer = List.of(condition("Warm", ConditionStatus.TRUE));
        advance(5);
        advance(60);

        assertThat(requested).hasSize(3);
        assertThat(statuses.applied).hasSize(2);
        assertThat(statuses.last().fieldManager()).isEqualTo("d.example.com-binding/node");
        assertThat(statuses.last().devices())
                .containsExactly(("{'driver':'d.example.com','pool':'node','device':'gpu-0','conditions':["
                                + "{'type':'Attached','status':'True','reason':'Because','message':'','lastTransitionTime':'2026-11-21T00:00:05Z'},"
                                + "{'type':'Warm','status':'True','reason':'Because','message':'','lastTransitionTime':'2026-11-21T00:00:10Z'}]}")
                        .replace('\'', '"'));
    }

    @Test
    void leavesOutAConditionThatTheApiWouldRefuse() {
        start(claim(OWN + AWAITED, ""));

        Condition wrong = new Condition("Attached", ConditionStatus.TRUE, "two words", "");
        answer = List.of(wrong, condition("Warm", ConditionStatus.TRUE));
        advance(5);

        assertThat(statuses.applied).hasSize(1);
        assertThat(statuses.last().devices())
                .singleElement()
                .asString()
                .contains("Warm")
                .doesNotContain("Attached");
    }

    @Test
    void endsWithAFailureCondition() {
        answer = List.of(condition("Failed", ConditionStatus.TRUE));
        start(claim(OWN + AWAITED, ""));
        advance(60);

        assertThat(requested).hasSize(1);
        assertThat(statuses.applied).hasSize(1);
    }

    @Test
    void goesOnWhereItWas() {
        String set = OWN
                + ",'conditions':[{'type':'Attached','status':'True','reason':'R','message':'','lastTransitionTime':'t'},"
                + "{'type':'Ready','status':'True'}]}";
        answer = List.of(condition("Warm", ConditionStatus.TRUE));
        start(claim(OWN + AWAITED, set));

        assertThat(statuses.last().devices().get(0))
                .contains("Attached", "Warm", "\"t\"")
                .doesNotContain("Ready");
    }

    @Test
    void passesOverWhatIsNotItsOwnOrNeedsNothing() {
        String settled = OWN + ",'conditions':[{'type':'Failed','status':'True'}]}";
        start(
                claim(OWN + "}", ""),
                claim(OWN.replace("'node'", "'other'") + AWAITED, ""),
                claim(OWN.replace("d.example", "e.example") + AWAITED, ""),
                claim(OWN + AWAITED, settled),
                claim(OWN + AWAITED, "").replace("uid-1", "../uid"));
        advance(60);

        assertThat(requested).isEmpty();
        assertThat(statuses.tries).isZero();
    }

    @Test
    void triesAgainWhatFails() {
        feed.outage = 2;
        start(claim(OWN + AWAITED, ""));
        assertThat(requested).isEmpty();
        advance(3);
        assertThat(feed.lists).isEqualTo(3);
        assertThat(requested).hasSize(1);

        failure = new IllegalStateException("cable");
        advance(5);
        failure = null;
        answer = List.of(condition("Unknown", ConditionStatus.TRUE)); // not awaited
        advance(5);
        assertThat(statuses.tries).isZero();

        answer = List.of(condition("Failed", ConditionStatus.TRUE));
        statuses.fail(2, 403);
        advance(5);
        advance(5);
        assertThat(statuses.applied).isEmpty();
        advance(5);
        assertThat(statuses.applied).hasSize(1);
        int requestedUntilThen = requested.size();
        advance(60);
        assertThat(requested).hasSize(requestedUntilThen);
    }

    @Test
    void waitsAsLongAsTheServerRequests() {
        feed.beforeList = () -> {
            if (feed.lists == 1) {
                throw new ClusterException("too many requests", 429, Duration.ofSeconds(30));
            }
        };
        start(claim(OWN + AWAITED, ""));
        advance(30);
        assertThat(feed.lists).isOne();

        advance(1);
        assertThat(requested).hasSize(1);
    }

    @Test
    void isEndedNeitherByABugNorByAShortageOfThreads() {
        feed.beforeList = () -> {
            if (feed.lists == 1) {
                throw new IllegalStateException("odd");
            } else if (feed.lists == 2) {
                throw new OutOfMemoryError("unable to create native thread");
            }
        };
        start(claim(OWN + AWAITED, ""));
        advance(3);

        assertThat(requested).hasSize(1);
    }

    @Test
    void aClaimThatChangesAllTheTimeIsNotCheckedMoreOften() {
        answer = List.of(condition("Attached", ConditionStatus.TRUE));
        start(claim(OWN + AWAITED, ""));
        String other = OWN + ",'conditions':[{'type':'Attached','status':'False'},{'type':'X%d'}]}";
        for (int i = 0; i < 100; i++) {
            feed.listener.changed(claim(OWN + AWAITED, other.formatted(i)));
            advance(0);
        }
        assertThat(requested).hasSize(1);
        assertThat(statuses.applied).hasSize(1);

        advance(5);
        assertThat(requested).hasSize(2);
        assertThat(statuses.applied).hasSize(2);
    }

    @Test
    void anotherWriterOfASettledClaimDoesNotMakeItFaster() {
        answer = List.of(condition("Failed", ConditionStatus.TRUE));
        start(claim(OWN + AWAITED, ""));
        feed.listener.changed(claim(OWN + AWAITED, statuses.last().devices().get(0)));
        feed.listener.changed(claim(OWN + AWAITED, ""));
        feed.listener.changed(claim(OWN + AWAITED, ""));
        advance(0);

        assertThat(requested).hasSize(1);
        advance(5);
        assertThat(requested).hasSize(2);
    }

    @Test
    void aClaimThatIsForbiddenWaitsAMinuteAndDelaysNoOther() {
        answer = List.of(condition("Failed", ConditionStatus.TRUE));
        statuses.failures.add(new ClusterException.Forbidden("no", "update", "resourceclaims/status"));
        start(
                claim(OWN + AWAITED, ""),
                claim(OWN + AWAITED, "").replace("uid-1", "uid-2").replace("'c'", "'d'"));

        assertThat(statuses.applied).hasSize(1);

        advance(55);
        assertThat(statuses.tries).isEqualTo(2);
        advance(10);
        assertThat(statuses.applied).hasSize(2);
    }

    @Test
    void aClockThatIsSetBackDelaysNothing() {
        answer = List.of(condition("Attached", ConditionStatus.TRUE));
        statuses.failures.add(new ClusterException.Forbidden("no", "update", "resourceclaims/status"));
        start(claim(OWN + AWAITED, ""));
        setBack = Duration.ofDays(30);
        advance(5);

        assertThat(requested).hasSize(2);
        assertThat(statuses.applied).hasSize(1);
    }

    @Test
    void anotherAllocationIsCheckedAtOnce() {
        start(claim(OWN + AWAITED, ""));
        feed.listener.changed(claim(OWN.replace("gpu-0", "gpu-1") + AWAITED, ""));
        advance(0);

        assertThat(requested).hasSize(2);
    }

    @Test
    void followsChanges() {
        start();
        feed.listener.changed(claim(OWN + AWAITED, ""));
        advance(0);
        assertThat(requested).hasSize(1);

        feed.listener.deleted(claim(OWN + AWAITED, ""));
        advance(60);
        assertThat(requested).hasSize(1);

        feed.claims = List.of(claim(OWN + AWAITED, ""));
        feed.listener.ended("timeout");
        advance(1);
        assertThat(requested).hasSize(2);
    }

    /** One slow answer may end the watches of many nodes at the same time. */
    @ParameterizedTest
    @CsvSource({"0, 500", "-1, 999"})
    void aWatchThatEndedBeginsAgainAfterARandomTime(long random, int millis) {
        this.random = () -> random;
        start();
        feed.listener.ended("timeout");
        advance(0);

        loop.advance(Duration.ofMillis(millis - 1));
        assertThat(feed.lists).isOne();

        loop.advance(Duration.ofMillis(1));
        assertThat(feed.lists).isEqualTo(2);
    }

    @Test
    void aQuietWatchWithBookmarksGoesOn() {
        start();
        for (int i = 0; i < 10; i++) {
            advance(60);
            feed.listener.bookmark();
        }

        assertThat(feed.lists).isOne();
    }

    @Test
    void aWatchThatIsSilentForTooLongIsTakenForDeadAndChangesNothingMore() {
        start();
        Watch.Listener<String> dead = feed.listener;
        advance(200);
        dead.changed(claim(OWN + AWAITED, ""));
        dead.ended("at last");
        advance(5);

        assertThat(feed.lists).isEqualTo(2);
        assertThat(requested).isEmpty();
        feed.claims = List.of(claim(OWN + AWAITED, ""));
        advance(600);
        assertThat(requested).isNotEmpty();
    }

    @Test
    void endsWhenItIsClosed() {
        start(claim(OWN + AWAITED, "")).close();
        advance(60);

        assertThat(requested).hasSize(1);
    }
}
