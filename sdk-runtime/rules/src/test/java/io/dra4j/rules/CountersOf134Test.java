// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.rules;

import static io.dra4j.rules.KubernetesVersion.V1_34;
import static io.dra4j.rules.Trees.repeat;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;

import io.dra4j.rules.FieldErrors.FieldError;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The rules of Kubernetes 1.34: counter sets are in the slice of their devices, and limits are sums. */
class CountersOf134Test {

    private static final String SETS = "spec.sharedCounters";
    private static final String DEVICE = "spec.devices[0]";

    private static String counters(int count) {
        return "'counters':{" + repeat(",", count, i -> "'c" + i + "':{'value':'1'}") + "}";
    }

    private static String sets(int count, int each) {
        return "'sharedCounters':[" + repeat(",", count, i -> "{'name':'s" + i + "'," + counters(each) + "}") + "]";
    }

    private static String consumed(int sets, int each) {
        return "'consumesCounters':["
                + repeat(",", sets, i -> "{'counterSet':'s" + i + "'," + counters(each) + "}")
                + "]";
    }

    private static String devices(int count, String consumed) {
        return "'devices':[" + repeat(",", count, i -> "{'name':'gpu-" + i + "'," + consumed + "}") + "]";
    }

    private static List<String> complaints(KubernetesVersion version, String... fields) {
        FieldErrors errors = new FieldErrors();
        String spec = "{'driver':'gpu.example.com','nodeName':'node-1',"
                + "'pool':{'name':'node-1','generation':1,'resourceSliceCount':1},"
                + String.join(",", fields)
                + "}";
        new SliceRules(new FeatureGates(version, Map.of())).check(tree(spec), errors);
        return errors.all().stream().map(FieldError::toString).toList();
    }

    @Test
    void setsAndDevicesStandTogetherAsFarAsTheSumsGo() {
        assertThat(complaints(V1_34, sets(32, 1), devices(32, consumed(32, 1)))).isEmpty();
        assertThat(complaints(V1_34, sets(1, 32), devices(32, consumed(1, 32)))).isEmpty();
        assertThat(complaints(V1_34, sets(2, 16), devices(128, consumed(2, 4)))).isEmpty();
        assertThat(complaints(V1_34, sets(32, 1))).isEmpty();
    }

    @Test
    void aDeviceConsumesOfTheSetsOfItsSliceAlone() {
        assertThat(complaints(V1_34, devices(1, consumed(1, 1))))
                .containsExactly(DEVICE
                        + ".consumesCounters[0].counterSet: Invalid value: \"s0\": must"
                        + " reference a counterSet defined in the ResourceSlice"
                        + " sharedCounters");
        assertThat(complaints(KubernetesVersion.V1_35, devices(1, consumed(1, 1))))
                .isEmpty();
    }

    @Test
    void aDeviceConsumesNoCounterThatItsSetDoesNotHave() {
        assertThat(complaints(V1_34, sets(2, 1), devices(1, consumed(2, 2))))
                .hasSize(2)
                .element(1)
                .isEqualTo(DEVICE
                        + ".consumesCounters[1].counters: Invalid value: \"c1\": must"
                        + " reference a counter defined in the ResourceSlice"
                        + " sharedCounters");
    }

    @Test
    void aSliceHasThirtyTwoCountersInAllItsSets() {
        String complaint = SETS + ": Invalid value: 33: the total number of shared counters must not exceed 32";

        assertThat(complaints(V1_34, sets(33, 1))).containsExactly(complaint);
        assertThat(complaints(V1_34, sets(1, 33))).containsExactly(complaint);
        assertThat(complaints(V1_34, sets(3, 11))).containsExactly(complaint);
    }

    @Test
    void aDeviceConsumesThirtyTwoCountersOfAllSets() {
        assertThat(complaints(V1_34, sets(3, 11), devices(1, consumed(3, 11))))
                .hasSize(2)
                .contains("%s: Invalid value: 33: the total number of counters must not exceed 32".formatted(DEVICE));
    }

    @Test
    void theDevicesOfASliceConsumeAThousandCounters() {
        assertThat(complaints(V1_34, sets(1, 8), devices(128, consumed(1, 8)))).isEmpty();
        assertThat(complaints(V1_34, sets(1, 9), devices(114, consumed(1, 9))))
                .containsExactly("spec.devices: Invalid value: 1026: the total number of counters in devices"
                        + " must not exceed 1024");
    }
}
