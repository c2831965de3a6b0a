// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.AllocatedDevice;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceMetadata;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.api.device.AttributeValue;
import io.dra4j.api.device.Device;
import io.dra4j.api.device.Inventory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reports the GPUs of a claim: to the cluster in the claim's status, to containers in a metadata file.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4817-resource-claim-device-status">
 *     KEP-4817</a>
 */
final class ReportingGpus extends DecoratedDevices {

    private static final List<String> IN_STATUS = List.of("uuid", "model", "driverVersion");

    private final boolean inStatus;
    private final boolean inMetadata;
    private volatile @Nullable Inventory last;

    ReportingGpus(DeviceProvider gpus, boolean inStatus, boolean inMetadata) {
        super(gpus);
        this.inStatus = inStatus;
        this.inMetadata = inMetadata;
    }

    @Override
    public Inventory inventory() throws Exception {
        Inventory read = unlessChanged(last, super.inventory());
        last = read;
        return read;
    }

    /** Returns nothing for a GPU that was unplugged after it was allocated; reading all GPUs again would take long. */
    private Map<String, AttributeValue> attributes(AllocatedDevice gpu) throws Exception {
        Inventory known = last;
        return (known == null ? inventory() : known)
                .device(gpu.pool(), gpu.device())
                .map(Device::attributes)
                .orElse(Map.of());
    }

    @Override
    PreparedDevice decorate(PreparedDevice gpu) throws Exception {
        Map<String, AttributeValue> attributes = attributes(gpu.allocated());
        PreparedDevice reporting = gpu;
        if (inStatus) {
            Condition ready = new Condition("Ready", ConditionStatus.TRUE, "Prepared", "");
            reporting = reporting.withStatus(DeviceStatus.builder()
                    .conditions(List.of(ready))
                    .data(data(attributes))
                    .build());
        }
        return inMetadata ? reporting.withMetadata(new DeviceMetadata(attributes, null)) : reporting;
    }

    /** Formats values of this driver, none of which needs escaping in JSON. */
    private static @Nullable String data(Map<String, AttributeValue> attributes) {
        List<String> fields = new ArrayList<>();
        for (String name : IN_STATUS) {
            AttributeValue value = attributes.get(name);
            if (value instanceof AttributeValue.OfString text) {
                fields.add("\"%s\":\"%s\"".formatted(name, text.value()));
            } else if (value instanceof AttributeValue.OfVersion version) {
                fields.add("\"%s\":\"%s\"".formatted(name, version.value()));
            }
        }
        return fields.isEmpty() ? null : "{" + String.join(",", fields) + "}";
    }
}
