// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance;

import static io.dra4j.conformance.DriverUnderTest.DRIVER;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.testkit.kubelet.CallResult;
import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.KubeletClaim;
import io.dra4j.testkit.kubelet.PluginInfo.Service;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DisplayNameGeneration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the kubelet hears when it lets claims be unprepared, and what is left then: nothing. */
@DisplayNameGeneration(RequirementNames.class)
class UnprepareIT {

    private static NodeUnderTest node;

    @BeforeAll
    static void start() throws Exception {
        node = new NodeUnderTest();
    }

    @AfterEach
    void cleanUp() throws Exception {
        node.cleanUp();
    }

    @AfterAll
    static void stop() {
        node.close();
    }

    private static CallResult unprepare(Service service, KubeletClaim... claims) {
        return node.driver.kubelet.unprepare(DRIVER, List.of(claims), service);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-UNP-01")
    void aPreparedClaimIsUnpreparedAndEveryUidIsAnswered(Service service) throws Exception {
        KubeletClaim claim = node.allocate("gpu-0");
        node.prepare(claim, service);

        CallResult result = unprepare(service, claim);

        assertThat(result.complaint()).isEmpty();
        assertThat(result.answers()).containsOnlyKeys(claim.uid());
        assertThat(node.cdi.content()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-UNP-02")
    void anUnknownClaimIsNoError(Service service) {
        KubeletClaim nobody =
                new KubeletClaim("default", "nobody", "7c8b6dc4-9f6c-4cb8-9bb9-2f6f9a0d1a11");

        assertThat(unprepare(service, nobody).complaint()).isEmpty();
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-UNP-03")
    void anUnprepareMayBeRepeated(Service service) {
        KubeletClaim claim = node.allocate("gpu-0");
        node.prepare(claim, service);

        for (int i = 0; i < 10; i++) {
            assertThat(unprepare(service, claim).complaint()).isEmpty();
        }
    }

    @Test
    @Tag("DRA-UNP-08")
    void theOldUidsUnprepareLeavesTheNewClaimOfThatName() throws Exception {
        String name = node.name();
        KubeletClaim old =
                node.known(TestClaim.named(name).request("gpu", "gpu-0").create(node.driver));
        node.prepare(old);
        node.driver.deleteObject(old);
        KubeletClaim anew =
                node.known(TestClaim.named(name).request("gpu", "gpu-1").create(node.driver));
        ClaimAnswer answer = node.prepare(anew);
        List<String> environment = node.environment(answer);

        node.unprepare(old);

        assertThat(node.environment(answer)).isEqualTo(environment);
        assertThat(node.cdi.content()).hasSize(1);
        assertThat(node.prepare(anew).wire()).isEqualTo(answer.wire());
        node.refusal(node.allocate("gpu-1"));
        node.prepare(node.allocate("gpu-0"));
    }

    @Test
    @Tag("DRA-UNP-09")
    void whatOtherClaimsHaveStays() throws Exception {
        KubeletClaim gone = node.allocate("gpu-0");
        KubeletClaim stays = node.allocate("gpu-1", "gpu-2");
        node.prepare(gone);
        ClaimAnswer answer = node.prepare(stays);
        List<String> environment = node.environment(answer);

        node.unprepare(gone);

        assertThat(node.environment(answer)).isNotEmpty().isEqualTo(environment);
        assertThat(node.prepare(stays).wire()).isEqualTo(answer.wire());
    }

    @ParameterizedTest
    @EnumSource
    @Tag("DRA-UNP-10")
    void aBatchIsAnsweredClaimByClaim(Service service) {
        KubeletClaim known = node.allocate("gpu-0");
        KubeletClaim unknown = new KubeletClaim("default", "nobody", "uid-of-nobody");
        KubeletClaim also = node.allocate("gpu-1");
        node.prepare(known);
        node.prepare(also);

        CallResult result = unprepare(service, known, unknown, known, also);

        assertThat(result.complaint()).isEmpty();
        assertThat(result.answers()).containsOnlyKeys(known.uid(), unknown.uid(), also.uid());
    }

    @Test
    @Tag("DRA-UNP-12")
    void anUnprepareThatCannotCleanUpIsAnErrorAndItsRetryFinishes() throws Exception {
        KubeletClaim broken = node.allocate("gpu-0");
        KubeletClaim well = node.allocate("gpu-1");
        node.prepare(broken);
        node.prepare(well);
        Path spec = node.specOf(broken);
        Path inTheWay = blocked(spec);

        CallResult result = unprepare(Service.V1, broken, well);

        assertThat(result.answers().get(broken.uid()).error()).isNotEmpty();
        assertThat(result.answers().get(well.uid()).error()).isEmpty();
        assertThat(node.refusal(node.allocate("gpu-0"))).contains("held");
        Files.delete(inTheWay);
        node.unprepare(broken);
        assertThat(spec).doesNotExist();
        node.prepare(node.allocate("gpu-0"));
    }

    /** In place of a spec, a directory that is not empty: it can't be removed as a file. */
    private static Path blocked(Path spec) throws Exception {
        Files.delete(spec);
        return Files.createFile(Files.createDirectory(spec).resolve("in-the-way"));
    }

    @Test
    @Tag("DRA-UNP-06")
    void aNewProcessUnpreparesWhatAnOldOnePrepared() throws Exception {
        KubeletClaim killed = node.allocate("gpu-0");
        KubeletClaim stopped = node.allocate("gpu-1");
        node.prepare(killed);
        node.prepare(stopped);

        node.driver.restartAfterKill();
        node.unprepare(killed);
        assertThat(node.driver.terminate()).isZero();
        assertThat(node.driver.startRegistered()).isTrue();
        node.unprepare(stopped);

        assertThat(node.cdi.content()).isEmpty();
        node.prepare(node.allocate("gpu-0", "gpu-1"));
    }

    @Test
    @Tag("DRA-UNP-07")
    void aPrepareThatFailedIsUnprepared() throws Exception {
        KubeletClaim failed = node.allocate("gpu-0", "no-such");
        Map<String, String> before = node.cdi.content();
        node.refusal(failed);

        node.unprepare(failed);

        assertThat(node.cdi.content()).isEqualTo(before);
        node.prepare(node.allocate("gpu-0"));
    }
}
