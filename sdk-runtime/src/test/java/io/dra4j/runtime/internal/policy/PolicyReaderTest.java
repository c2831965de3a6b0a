// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.runtime.internal.policy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.device.Pool;
import io.dra4j.api.device.Taint;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rules of an admin as they change devices, and the reasons why others are refused. */
class PolicyReaderTest {

    private static final String DRIVER = "gpu.example.com";
    private static final PolicyReader READER = new PolicyReader(DRIVER, "worker-7");

    private static Device device(String name, String type) {
        return Device.builder(name)
                .attribute("type", AttributeValue.of(type))
                .attribute("driverVersion", AttributeValue.version("580.1.0"))
                .build();
    }

    private static final Inventory INVENTORY = Inventory.of(Pool.ofNode(
            "worker-7",
            List.of(
                    device("gpu-0", "gpu"),
                    device("gpu-1", "gpu"),
                    device("gpu-10", "gpu"),
                    device("gpu-1-mig-1g.0".replace(".", "-"), "mig"))));

    private static List<Device> published(String policy) {
        return READER.read(policy).apply(INVENTORY).pools().get(0).devices();
    }

    private static List<String> names(String policy) {
        return published(policy).stream().map(device -> device.name().value()).toList();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{names: [gpu-1]} | gpu-0 gpu-10 gpu-1-mig-1g-0",
                "{names: [gpu-1, gpu-1-*]} | gpu-0 gpu-10",
                "{names: ['*-mig-*', 'gpu-?']} | gpu-10",
                "{names: ['*']} |",
                "{names: ['gpu-1*']} | gpu-0",
                "{names: [gpu-9]} | gpu-0 gpu-1 gpu-10 gpu-1-mig-1g-0",
                "{nodes: ['worker-?'], names: [gpu-0]} | gpu-1 gpu-10 gpu-1-mig-1g-0",
                "{nodes: [worker-8], names: [gpu-0]} | gpu-0 gpu-1 gpu-10 gpu-1-mig-1g-0",
                "{attributes: {type: {string: mig}}} | gpu-0 gpu-1 gpu-10",
                "{attributes: {gpu.example.com/type: {string: mig}}} | gpu-0 gpu-1 gpu-10",
                "{attributes: {type: {string: mig}}, names: [gpu-0]} | gpu-0 gpu-1 gpu-10 gpu-1-mig-1g-0",
                "{attributes: {driverVersion: {version: 580.1.0}}} |",
                "{attributes: {driverVersion: {string: 580.1.0}}} | gpu-0 gpu-1 gpu-10 gpu-1-mig-1g-0"
            })
    void excludedDevicesAreThoseThatFitAll(String match, String left) {
        assertThat(String.join(" ", names("rules: [{match: " + match + ", exclude: true}]")))
                .isEqualTo(left == null ? "" : left);
    }

    @Test
    void attributesAndTaintsAreAdded() {
        Device device = published("""
                                rules:
                                - match: {names: [gpu-0]}
                                  attributes:
                                    example.com/tier: {string: gold}
                                    example.com/rack: {int: 3}
                                    example.com/leased: {bool: false}
                                    example.com/firmware: {version: 1.2.3}
                                  taints:
                                  - {key: example.com/burn-in, value: "true", effect: NoSchedule}
                                - taints: [{key: example.com/note, effect: None}]
                                - match: {names: [gpu-0]}
                                  attributes: {example.com/tier: {string: silver}}
                                """).get(0);

        assertThat(device.attributes())
                .containsEntry("example.com/tier", AttributeValue.of("silver"))
                .containsEntry("example.com/rack", AttributeValue.of(3))
                .containsEntry("example.com/leased", AttributeValue.of(false))
                .containsEntry("example.com/firmware", AttributeValue.version("1.2.3"))
                .containsEntry("type", AttributeValue.of("gpu"));
        assertThat(device.taints())
                .containsExactly(
                        Taint.of("example.com/burn-in", "true", Taint.Effect.NO_SCHEDULE),
                        Taint.of("example.com/note", null, Taint.Effect.NONE));
    }

    @Test
    void noRulesChangeNothing() {
        assertThat(READER.read("rules: []").apply(INVENTORY)).isSameAs(INVENTORY);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "rulez: [] | line 1, column 10: unknown field rulez; known here are rules",
                "{} | there is no list `rules`",
                "# none | there is no list `rules`",
                "`` | there is no list `rules`",
                "[] | this is not an object with a list `rules`",
                "rules: [{match: {names: ]} | is not YAML: ",
                "rules: [{exclude: true, exclude: false}] | rules[0] is not YAML: Duplicate field 'exclude'",
                "rules: [~] | rules[0] is empty",
                "rules: [{}] | rules[0]: the rule does nothing",
                "rules: [{exclude: true}] | rules[0]: the rule excludes all devices of all nodes",
                "rules: [{exclude: 'yes'}] | rules[0].exclude has a value of another type",
                "rules: [{match: {names: [gpu-0]}, exclude: true, taints: [{key: a, effect: None}]}]"
                        + " | rules[0]: an excluded device is not published",
                "rules: [{match: {names: []}, exclude: true}] | rules[0]: match.names is empty",
                "rules: [{match: {names: [GPU-0]}, exclude: true}] | rules[0]: \"GPU-0\" matches no name",
                "rules: [{match: {name: [gpu-0]}, exclude: true}]"
                        + " | unknown field rules[0].match.name; known here are attributes, names, nodes",
                "rules: [{attributes: {tier: {int: 1}}}] | rules[0]: attribute tier is not in a domain of yours",
                "rules: [{attributes: {gpu.example.com/tier: {int: 1}}}] | rules[0]: attribute gpu.example.com/tier is not",
                "rules: [{attributes: {resource.kubernetes.io/numaNode: {int: 1}}}] | is not in a domain of yours",
                "rules: [{attributes: {k8s.io/tier: {int: 1}}}] | attribute k8s.io/tier is not in a domain of yours",
                "rules: [{attributes: {a: {int: 1}, b: {int: 1}, c: {int: 1}, d: {int: 1}, e: {int: 1}, f: {int: 1}, g: {int: 1}}}] | ; and 2 more",
                "rules: [{attributes: {example.com/tier: {int: 1, bool: true}}}]"
                        + " | rules[0]: attributes[example.com/tier] needs one value with its type",
                "rules: [{attributes: {example.com/tier: {string: 3}}}] | texts that look like numbers or true need quotes",
                "rules: [{attributes: {example.com/tier: {version: one}}}] | rules[0]: attributes[example.com/tier].version: ",
                "rules: [{attributes: {example.com/two-words: {int: 1}}}] | rules[0]: attributes: ",
                "rules: [{taints: [{effect: None}]}] | rules[0]: a taint has no key",
                "rules: [{taints: [{key: example.com/a, effect: Never}]}]"
                        + " | rules[0]: taint example.com/a has effect Never; use NoSchedule, NoExecute or None",
                "rules: [{taints: [{key: gpu.example.com/a, effect: None}]}] | is in the driver's domain",
                "rules: [{taints: [{key: GPU.example.com/a, effect: None}]}] | is in the driver's domain",
                "rules: [{taints: [{key: example.com/a b, effect: None}]}] | rules[0]: taints[0].key: ",
                "rules: [{taints: [{key: example.com/a, value: a b, effect: None}]}] | rules[0]: taints[0].value: "
            })
    void whatCantBeIsNamed(String policy, String message) {
        assertThatThrownBy(() -> READER.read(policy))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void aRuleForAnotherNodeIsCheckedAllTheSame() {
        assertThatThrownBy(
                        () -> READER.read("rules: [{match: {nodes: [worker-8]}, taints: [{key: '', effect: None}]}]"))
                .hasMessageContaining("rules[0]: taints[0].key");
    }

    @Test
    void theLimitsOfADeviceAreThoseOfWhatItHasAlready() {
        Device.Builder full = Device.builder("gpu-0");
        IntStream.range(0, 32).forEach(i -> full.attribute("a" + i, AttributeValue.of(i)));
        Inventory inventory = Inventory.of(Pool.ofNode("worker-7", List.of(full.build())));
        DevicePolicy policy = READER.read("rules: [{attributes: {example.com/tier: {string: gold}}}]");

        READER.check(policy, INVENTORY);
        assertThatThrownBy(() -> READER.check(policy, inventory))
                .hasMessageContaining("device gpu-0")
                .hasMessageContaining("must not exceed 32");
    }

    @Test
    void anAttributeOfTheDriversStays() {
        Inventory inventory = Inventory.of(Pool.ofNode(
                "worker-7",
                List.of(Device.builder("gpu-0")
                        .attribute("vendor.example.com/tier", AttributeValue.of(1))
                        .build())));
        DevicePolicy policy = READER.read("rules: [{attributes: {vendor.example.com/tier: {int: 2}}}]");

        assertThatThrownBy(() -> READER.check(policy, inventory))
                .hasMessageContaining("device gpu-0 has an attribute vendor.example.com/tier of the driver's");
        assertThat(policy.apply(inventory)).isEqualTo(inventory); // of a device that comes later
    }

    @Test
    void anAttributeOfTheDriversIsNamedOnceForAllRules() {
        Device device = Device.builder("gpu-0")
                .attribute("example.org/tier", AttributeValue.of(1))
                .build();
        String rule = "{attributes: {example.org/tier: {int: 2}}}";
        DevicePolicy policy = READER.read("rules: [" + rule + ", " + rule + "]");

        assertThatThrownBy(() -> READER.check(policy, Inventory.of(Pool.ofNode("worker-7", List.of(device)))))
                .hasMessage("device gpu-0 has an attribute example.org/tier of the driver's; choose" + " another name");
    }

    @Test
    void whatIsWrongWithoutThePolicyIsNotBlamedOnIt() {
        Device wrong = Device.builder("gpu-0")
                .attribute("model", AttributeValue.of("x".repeat(65)))
                .build();
        Inventory inventory = Inventory.of(Pool.ofNode("worker-7", List.of(wrong)));
        DevicePolicy policy = READER.read("rules: [{taints: [{key: example.com/a, effect: None}]}]");

        assertThatCode(() -> READER.check(policy, inventory)).doesNotThrowAnyException();
    }
}
