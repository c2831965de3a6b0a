// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.status;

import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of a status that are sent; the rules themselves are tested with the rule book. */
class CheckedStatusTest {

    private static final String DEVICE = "status.devices[gpu-0].";
    private static final Condition READY = new Condition("Ready", ConditionStatus.TRUE, "Up", "");
    private static final NetworkData NET = new NetworkData("eth0", List.of("10.1.2.3/24"), "02:0A");

    private static CheckedStatus check(DeviceStatus status) {
        return CheckedStatus.of("gpu-0", ReportJson.status(status, null, Instant.EPOCH));
    }

    private static DeviceStatus ips(String... ips) {
        return DeviceStatus.builder()
                .networkData(new NetworkData(null, List.of(ips), null))
                .build();
    }

    private static DeviceStatus.Builder whole() {
        return DeviceStatus.builder().condition(READY).data("{\"a\":1}").networkData(NET);
    }

    private static List<String> types(CheckedStatus checked) {
        return checked.sent().path("conditions").findValuesAsText("type");
    }

    @Test
    void aRightStatusIsSentAsItIs() {
        CheckedStatus checked = check(whole().build());

        assertThat(checked.leftOut()).isEmpty();
        assertThat(checked.sent())
                .hasToString(
                        "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\",\"reason\":\"Up\",\"message\":\"\",\"lastTransitionTime\":\"1970-01-01T00:00:00Z\"}],"
                                + "\"data\":{\"a\":1},"
                                + "\"networkData\":{\"interfaceName\":\"eth0\",\"ips\":[\"10.1.2.3/24\"],\"hardwareAddress\":\"02:0A\"}}");
    }

    @Test
    void anEmptyStatusIsSentAsIsOneWhoseDataIsNull() {
        assertThat(check(DeviceStatus.builder().build()).sent()).isEmpty();
        assertThat(check(DeviceStatus.builder().data("null").build()).sent()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "::ffff:10.1.2.3/120, 10.1.2.3/24",
        "FD00:0::1/64, fd00::1/64",
        "fd00:0:0:0:0:0:0:1/64, fd00::1/64",
    })
    void addressesBecomeCanonical(String ip, String canonical) {
        CheckedStatus checked = check(ips(ip, canonical));

        assertThat(checked.leftOut()).isEmpty();
        assertThat(checked.sent().at("/networkData/ips")).hasToString("[\"" + canonical + "\"]");
    }

    @ParameterizedTest
    @ValueSource(strings = {"010.1.2.3/24", "10.1.2.3/024", "::ffff:10.1.2.3/24", "10.1.2.3"})
    void anAddressThatReadersTakeForDifferentOnesCostsTheNetworkData(String ip) {
        NetworkData network = new NetworkData("eth0", List.of("fd00::1/64", ip), null);
        CheckedStatus checked = check(whole().networkData(network).build());

        assertThat(checked.leftOut())
                .singleElement()
                .asString()
                .startsWith(DEVICE + "networkData.ips[1]: Invalid value: \"" + ip + "\": must be ");
        assertThat(checked.sent().fieldNames()).toIterable().containsExactly("conditions", "data");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{", "[1]", "\"{}\"", "{} {}", "{\"a\":1,\"a\":2}"})
    void dataThatIsNoObjectCostsTheData(String data) {
        CheckedStatus checked = check(whole().data(data).build());

        assertThat(checked.leftOut())
                .containsExactly(DEVICE + "data: Invalid value: \"<value omitted>\": must be a valid JSON object");
        assertThat(checked.sent().fieldNames()).toIterable().containsExactly("conditions", "networkData");
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
    void aWrongConditionCostsItself() {
        Condition wrong = new Condition("Linked", ConditionStatus.TRUE, "two words", "");
        CheckedStatus checked = check(whole().condition(wrong).build());

        assertThat(checked.leftOut())
                .singleElement()
                .asString()
                .startsWith(DEVICE + "conditions[1].reason: Invalid value: \"two words\": ");
        assertThat(types(checked)).containsExactly("Ready");
        assertThat(checked.sent().size()).isEqualTo(3);
        assertThat(checked.hasCondition("Ready")).isTrue();
        assertThat(checked.hasCondition("Linked")).isFalse();
    }

    @Test
    void conditionsThatContradictEachOtherCostBoth() {
        Condition other = new Condition("Ready", ConditionStatus.FALSE, "Down", "");
        Condition linked = new Condition("Linked", ConditionStatus.TRUE, "Up", "");
        CheckedStatus checked = check(DeviceStatus.of(READY, linked, other));

        assertThat(checked.leftOut()).containsExactly(DEVICE + "conditions[2].type: Duplicate value: \"Ready\"");
        assertThat(types(checked)).containsExactly("Linked");
    }

    @Test
    void aConditionThatIsThereTwiceIsSentOnce() {
        CheckedStatus checked = check(DeviceStatus.of(READY, READY));

        assertThat(checked.leftOut()).isEmpty();
        assertThat(types(checked)).containsExactly("Ready");
    }

    @Test
    void tooManyConditionsCostAll() {
        List<Condition> nine = IntStream.range(0, 9)
                .mapToObj(i -> new Condition("T" + i, ConditionStatus.TRUE, "R", ""))
                .toList();

        assertThat(check(whole().conditions(nine.subList(0, 8)).build()).leftOut())
                .isEmpty();
        CheckedStatus checked = check(whole().conditions(nine).build());
        assertThat(checked.leftOut()).containsExactly(DEVICE + "conditions: Too many: 9: must have at most 8 items");
        assertThat(checked.sent().fieldNames()).toIterable().containsExactly("data", "networkData");
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
