// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.example;

import io.dra4j.api.DeviceProvider;
import io.dra4j.api.claim.ConditionStatus;
import io.dra4j.api.claim.DeviceStatus;
import io.dra4j.api.claim.DeviceStatus.Condition;
import io.dra4j.api.claim.DeviceStatus.NetworkData;
import io.dra4j.api.claim.PreparedDevice;
import io.dra4j.example.FakeNicProvider.FakeInterface;
import java.util.List;

/**
 * Reports the names and addresses of a claim's NICs in its status.
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4817-resource-claim-device-status">
 *     KEP-4817</a>
 */
final class ReportingNics extends DecoratedDevices {

    private final String nodeName;

    ReportingNics(DeviceProvider nics, String nodeName) {
        super(nics);
        this.nodeName = nodeName;
    }

    @Override
    PreparedDevice decorate(PreparedDevice nic) {
        FakeInterface port = FakeInterface.of(nodeName, nic.allocated());
        NetworkData network = new NetworkData(port.name(), List.of(port.ip()), port.mac());
        Condition ready = new Condition("Ready", ConditionStatus.TRUE, "Prepared", "");
        return nic.withStatus(DeviceStatus.builder()
                .conditions(List.of(ready))
                .networkData(network)
                .build());
    }
}
