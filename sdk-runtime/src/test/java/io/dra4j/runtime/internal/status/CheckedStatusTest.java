// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static io.dra4j.runtime.ScenarioSteps.list;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.runtime.ScenarioSteps;
import io.dra4j.testkit.Scenarios;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** The parts of a status that are sent, as checked-statuses.txt says; the rules themselves are tested with the rule book. */
class CheckedStatusTest implements ScenarioSteps {

    private static final String DEVICE = "status.devices[gpu-0].";

    private static CheckedStatus check(DeviceStatus status) {
        return CheckedStatus.of("gpu-0", ReportJson.status(status, null, Instant.EPOCH));
    }

    private static DeviceStatus.Builder whole() {
        return DeviceStatus.builder()
                .condition(new Condition("Ready", ConditionStatus.TRUE, "Up", ""))
                .data("{\"a\":1}")
                .networkData(new NetworkData("eth0", List.of("10.1.2.3/24"), "02:0A"));
    }

    private DeviceStatus.Builder status = DeviceStatus.builder();

    @Scenarios("checked-statuses.txt")
    void whatIsRightIsSent(String scenario) throws Exception {
        play(scenario);
    }

    @Override
    public void run(String[] words, String text) {
        CheckedStatus checked = check(status.build());
        switch (words[0]) {
            case "whole" -> status = whole();
            case "condition" -> status.condition(new Condition(words[1], ConditionStatus.valueOf(words[2]), text, ""));
            case "data" -> status.data(text);
            case "ips" -> status.networkData(new NetworkData("eth0", List.of(text.split(" ")), null));
            case "fine" -> assertThat(checked.leftOut()).isEmpty();
            case "left-out" -> assertThat(checked.leftOut()).containsExactly(DEVICE + text);
            case "left-out-for" ->
                assertThat(checked.leftOut()).singleElement().asString().startsWith(DEVICE + text);
            case "sent" -> assertThat(checked.sent()).hasToString(text);
            case "sent-fields" ->
                assertThat(list(checked.sent().properties().stream().map(Map.Entry::getKey)))
                        .isEqualTo(text);
            case "sent-conditions" ->
                assertThat(list(checked.sent().path("conditions").findValuesAsText("type").stream()))
                        .isEqualTo(text);
            case "has" -> assertThat(checked.hasCondition(words[1])).isTrue();
            case "lacks" -> assertThat(checked.hasCondition(words[1])).isFalse();
            default -> throw new IllegalArgumentException(words[0]);
        }
    }

    @Test
    void dataHasALimitInTheFormThatIsSent() {
        String value = "x".repeat(10_240 - 8);

        assertThat(check(whole().data("{ \"a\" : \"" + value + "\" }").build()).leftOut())
                .isEmpty();
        assertThat(check(whole().data("{\"a\":\"x" + value + "\"}").build()).leftOut())
                .containsExactly(DEVICE + "data: Too long: may not be more than 10240 bytes");
    }

    @Test
    void messagesAreFewAndShort() {
        List<Condition> many = IntStream.range(0, 1000)
                .mapToObj(i -> "\n".repeat(1000) + i)
                .map(type -> new Condition(type, ConditionStatus.TRUE, "R", ""))
                .toList();

        List<String> leftOut = check(whole().conditions(many).build()).leftOut();

        assertThat(String.join("; ", leftOut)).hasSizeLessThan(20_000).doesNotContain("\n");
    }

    @Test
    void namesOwnersWithinTheLimitOfTheApi() {
        assertThat(FieldOwner.of("d.example.com", "node-1")).isEqualTo("d.example.com/node-1");
        String a = FieldOwner.of("d.example.com", "n".repeat(200) + "a");
        String b = FieldOwner.of("d.example.com", "n".repeat(200) + "b");
        assertThat(a).hasSize(128).isNotEqualTo(b);
    }
}
