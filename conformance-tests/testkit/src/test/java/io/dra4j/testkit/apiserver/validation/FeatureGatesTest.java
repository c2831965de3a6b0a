// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.testkit.apiserver.validation;

import static io.dra4j.rules.KubernetesVersion.V1_34;
import static io.dra4j.rules.KubernetesVersion.V1_36;
import static io.dra4j.rules.KubernetesVersion.V1_37;
import static io.dra4j.rules.Trees.tree;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.dra4j.rules.FeatureGate;
import io.dra4j.rules.FeatureGates;
import io.dra4j.testkit.apiserver.model.ResourceKind;
import io.dra4j.testkit.apiserver.model.ResourceKinds;
import java.time.InstantSource;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The fields that a disabled gate drops. */
class FeatureGatesTest {
    private static final String EVERYTHING = "{'spec':{'sharedCounters':[{'name':'s','counters':{'c':{'value':'1'}}}],"
            + "'perDeviceNodeSelection':true,'devices':[{'name':'gpu-0','taints':[{'key':'k','effect':'None'}],"
            + "'consumesCounters':[{'counterSet':'s','counters':{'c':{'value':'1'}}}],'nodeName':'n',"
            + "'bindsToNode':true,'bindingConditions':['a'],'bindingFailureConditions':['b'],"
            + "'allowMultipleAllocations':true,'capacity':{'m':{'value':'1','requestPolicy':{'default':'1'}}},"
            + "'attributes':{'l':{'ints':[1]},'s':{'int':1}}}]}}";

    private static ObjectNode written(FeatureGates gates, @Nullable ObjectNode old) {
        ObjectNode slice = tree(EVERYTHING);
        MetadataRules metadata = new MetadataRules(InstantSource.system());
        new SliceStrategy(gates, metadata).prepare(slice, old, Strategy.Part.MAIN);
        return slice;
    }

    @Test
    void in134AllButThePlainFieldsVanish() {
        ObjectNode slice = written(new FeatureGates(V1_34, Map.of()), null);

        assertThat(slice)
                .isEqualTo(tree("{'spec':{'devices':[{'name':'gpu-0','capacity':{'m':{'value':'1'}},"
                        + "'attributes':{'l':{},'s':{'int':1}}}]}}"));
    }

    @Test
    void in136OnlyListsVanish() {
        ObjectNode slice = written(new FeatureGates(V1_36, Map.of()), null);

        assertThat(GatedFields.used(slice, "spec.devices.*.attributes.*.ints")).isFalse();
        assertThat(GatedFields.used(slice, "spec.devices.*.consumesCounters")).isTrue();
        assertThat(GatedFields.used(slice, "spec.devices.*.taints.*.timeAdded")).isTrue();
        assertThat(GatedFields.used(slice, "spec.devices.*.bindingConditions")).isTrue();
        assertThat(GatedFields.used(slice, "spec.devices.*.capacity.*.requestPolicy"))
                .isTrue();
    }

    @Test
    void aFeatureInUseStaysUsable() {
        FeatureGates off = new FeatureGates(V1_36, Map.of(FeatureGate.DRA_DEVICE_TAINTS, false));

        assertThat(GatedFields.used(written(off, null), "spec.devices.*.taints"))
                .isFalse();
        assertThat(GatedFields.used(written(off, tree(EVERYTHING)), "spec.devices.*.taints"))
                .isTrue();
    }

    @Test
    void aGateCanOnlyBeSetWhereItExists() {
        Map<FeatureGate, Boolean> lists = Map.of(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES, true);

        assertThat(new FeatureGates(V1_36, lists).enabled(FeatureGate.DRA_LIST_TYPE_ATTRIBUTES))
                .isTrue();
        assertThatThrownBy(() -> new FeatureGates(V1_34, lists))
                .hasMessage("Kubernetes 1.34 has no feature gate DRAListTypeAttributes; leave it out or choose a newer"
                        + " version");
    }

    @Test
    void aLockedGateCannotBeSwitchedOff() {
        FeatureGate gate = FeatureGate.DRA_PRIORITIZED_LIST;
        Map<FeatureGate, Boolean> off = Map.of(gate, false);

        assertThat(new FeatureGates(V1_36, off).enabled(gate)).isFalse();
        assertThat(new FeatureGates(V1_37, Map.of(gate, true)).enabled(gate)).isTrue();
        assertThatThrownBy(() -> new FeatureGates(V1_37, off))
                .hasMessage("Kubernetes 1.37 has locked feature gate DRAPrioritizedList on; leave it out or choose"
                        + " an older version");
    }

    @Test
    void aFieldOfALaterReleaseIsUnknown() {
        ObjectNode later = tree("{'spec':{'skipNodeOperations':['*'],'driver':'d'}}");
        ResourceKind slices = new ResourceKinds(V1_36).named("resourceslices");

        assertThat(new Schema(V1_37).fit(slices, later.deepCopy())).isEmpty();
        assertThat(new Schema(V1_36).fit(slices, later)).containsExactly("spec.skipNodeOperations");
        assertThat(later.path("spec")).isEqualTo(tree("{'driver':'d'}"));
    }
}
