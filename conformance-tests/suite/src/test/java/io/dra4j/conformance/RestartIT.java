// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static io.dra4j.conformance.DriverUnderTest.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.FakeKubelet;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.proxy.Fault;
import io.dra4j.testkit.proxy.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What outlives kills, reboots, the kubelet's restarts and a damaged journal. */
@DisplayNameGeneration(RequirementNames.class)
class RestartIT {

    private static NodeUnderTest node;
    private static String[] options;
    private static Path bootId;
    private static int boots;

    @BeforeAll
    static void start() throws Exception {
        DriverUnderTest driver = new DriverUnderTest();
        Path proc = driver.root.resolve("proc");
        bootId = proc.resolve("sys/kernel/random/boot_id");
        Files.createDirectories(bootId.getParent());
        Files.writeString(bootId, "boot-0\n");
        options = new String[] {"--proc-root=" + proc};
        node = new NodeUnderTest(driver, options);
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    /** The node boots again: what is under /run is gone, what is under /var/lib is there. */
    private static void reboot() throws Exception {
        node.driver.kill();
        try (var specs = Files.newDirectoryStream(node.driver.cdi)) {
            for (Path spec : specs) {
                Files.delete(spec);
            }
        }
        Files.writeString(bootId, "boot-" + ++boots + "\n");
        assertThat(node.driver.startRegistered(options)).as(node.driver::logTail).isTrue();
    }

    @Test
    @Tag("DRA-RST-01")
    void afterAKillARepeatedPrepareIsAnsweredTheSame() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0", "gpu-1");
        ClaimAnswer first = node.prepare(claim);
        Map<String, String> specs = node.cdi.content();

        node.driver.restartAfterKill(options);

        assertThat(node.cdi.content()).isEqualTo(specs);
        assertThat(node.prepare(claim).wire()).isEqualTo(first.wire());
        assertThat(node.cdi.content()).isEqualTo(specs);
    }

    @Test
    @Tag("DRA-RST-02")
    void aKillBeforeTheWorkLeavesNothing() throws Exception {
        KubeletClaim again = node.allocate("gpu-0");
        KubeletClaim gone = node.allocate("gpu-1");
        int before = node.driver.proxy.lastNumber();
        CompletableFuture<CallResult> call;
        try (var held =
                node.driver.proxy.inject(
                        Fault.delay(Duration.ofMinutes(10)).on(Requests.to("resourceclaims")))) {
            call = NodeUnderTest.async(() -> node.call(again, gone));
            node.driver.proxy.await(
                    PATIENCE, Requests.to("resourceclaims").and(Requests.after(before)));
            node.driver.kill();
            assertThat(held.over()).isFalse();
        }
        assertThat(call.get(PATIENCE.toSeconds(), TimeUnit.SECONDS).complaint()).isPresent();

        assertThat(node.driver.startRegistered(options)).isTrue();
        assertThat(node.cdi.content()).isEmpty();
        node.unprepare(gone);
        node.prepare(again);
        node.unprepare(again);
        assertThat(node.cdi.content()).isEmpty();
    }

    @Test
    @Tag("DRA-RST-04")
    void aKubeletThatStartsAgainIsAnsweredTheSame() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        ClaimAnswer first = node.prepare(claim);

        try (FakeKubelet again = FakeKubelet.start(node.driver.registry)) {
            assertThat(again.awaitRegistered(DRIVER, PATIENCE)).isTrue();
            CallResult result = again.prepare(DRIVER, List.of(claim));
            assertThat(result.complaint()).isEmpty();
            assertThat(result.answers().get(claim.uid()).wire()).isEqualTo(first.wire());
        }
    }

    @Test
    @Tag("DRA-RST-05")
    void afterARebootAPrepareMakesEverythingAnew() throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        KubeletClaim ended = node.allocate("gpu-1");
        ClaimAnswer first = node.prepare(claim);
        List<String> environment = node.environment(first);
        node.prepare(ended);

        reboot();

        assertThat(node.cdi.content()).as("nothing counts as prepared").isEmpty();
        ClaimAnswer answer = node.prepare(claim);
        assertThat(answer.wire()).isEqualTo(first.wire());
        assertThat(node.environment(answer)).isEqualTo(environment);
        node.unprepare(ended);
    }

    @Test
    @Tag("DRA-RST-09")
    void afterARebootADeviceOfAClaimThatIsGoneIsFree() throws Exception {
        KubeletClaim gone = node.allocate("gpu-0");
        node.prepare(gone);
        node.driver.deleteObject(gone);

        reboot();

        assertThat(node.prepare(node.allocate("gpu-0")).devices()).hasSize(1);
    }

    /** What happens to the journal while the driver is away. */
    private enum Damage {
        EMPTIED,
        CUT,
        GARBAGE,
        A_BIT_FLIPPED;

        byte[] of(byte[] journal) {
            switch (this) {
                case EMPTIED:
                    return new byte[0];
                case CUT:
                    return Arrays.copyOf(journal, journal.length * 2 / 3);
                case GARBAGE:
                    byte[] garbage = new byte[journal.length];
                    Arrays.fill(garbage, (byte) 0xA5);
                    return garbage;
                default:
                    journal[journal.length / 2] ^= 4;
                    return journal;
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-RST-06")
    void aDamagedJournalEndsNoDriverAndForgetsNoClaim(Damage damage) throws Exception {
        assertThat(node.driver.terminate()).isZero(); // leaves a journal without a past
        assertThat(node.driver.startRegistered(options)).as(node.driver::logTail).isTrue();
        List<KubeletClaim> prepared = List.of(node.allocate("gpu-0"), node.allocate("gpu-1"));
        prepared.forEach(node::prepare);
        node.driver.kill();
        damage(damage);

        assertThat(node.driver.startRegistered(options)).as(node.driver::logTail).isTrue();

        node.prepare(node.allocate("gpu-5")); // by now it is known what may be lost
        for (String device : List.of("gpu-0", "gpu-1")) {
            KubeletClaim thief = node.allocate(device);
            assertThat(node.refusal(thief)).as("%s, %s", damage, device).isNotEmpty();
        }
        for (KubeletClaim claim : prepared) {
            node.unprepare(claim);
        }
        assertThat(node.cdi.content()).hasSize(1);
        node.prepare(node.allocate("gpu-0", "gpu-1"));
    }

    private static void damage(Damage damage) throws IOException {
        byte[] journal = Files.readAllBytes(node.driver.journal);
        assertThat(journal.length).isGreaterThan(500);
        Files.write(node.driver.journal, damage.of(journal));
    }
}
