// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.kubectl.explain;

import io.dra4j.allocator.ClusterState;
import io.dra4j.allocator.Obstacle;
import io.dra4j.allocator.Outcome;
import io.dra4j.allocator.RequestObstacles;
import io.dra4j.allocator.cel.DeviceSelector;
import io.dra4j.allocator.cel.DeviceVariable;
import io.dra4j.allocator.cel.ExpressionException;
import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceId;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.PoolId;
import io.dra4j.allocator.model.Slice;
import io.dra4j.allocator.model.SubRequest;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds out which devices in use would not be selected even if they were free.
 *
 * <p>A scheduler does not evaluate selectors on devices in use. For a reader, such a device does not match.
 *
 * <p>Thread-safe.
 */
final class Reclassified {
    private final Map<String, Optional<DeviceSelector>> compiled = new ConcurrentHashMap<>();

    /** Returns the outcome with the selector that fails in place of the use. */
    Outcome of(Outcome outcome, List<Claim> claims, ClusterState view) {
        if (!(outcome instanceof Outcome.DoesNotFit refused)) {
            return outcome;
        }
        List<RequestObstacles> requests =
                refused.requests().stream().map(one -> of(one, claims, view)).toList();
        return new Outcome.DoesNotFit(refused.message(), requests, refused.pools(), refused.poolsOfOtherNodes());
    }

    private RequestObstacles of(RequestObstacles one, List<Claim> claims, ClusterState view) {
        SubRequest asked = asked(one, claims);
        if (asked == null) {
            return one;
        }
        Map<DeviceId, Obstacle> devices = new LinkedHashMap<>();
        one.devices().forEach((id, obstacle) -> {
            Obstacle selector = obstacle instanceof Obstacle.InUse ? selector(asked, id, view) : null;
            devices.put(id, selector == null ? obstacle : selector);
        });
        return new RequestObstacles(one.claim(), one.request(), one.wanted(), one.most(), devices);
    }

    private static @Nullable SubRequest asked(RequestObstacles one, List<Claim> claims) {
        for (Claim claim : claims) {
            for (DeviceRequest request : claim.requests()) {
                for (SubRequest asked : request.alternatives()) {
                    if (claim.fullName().equals(one.claim())
                            && request.nameOf(asked).equals(one.request())) {
                        return asked;
                    }
                }
            }
        }
        return null;
    }

    private @Nullable Obstacle selector(SubRequest asked, DeviceId id, ClusterState view) {
        DeviceVariable variable = variable(id, view);
        if (variable == null) {
            return null;
        }
        List<String> ofClass = view.deviceClass(asked.deviceClass())
                .map(DeviceClass::selectors)
                .orElse(List.of());
        Obstacle obstacle = selector(ofClass, variable, asked.deviceClass());
        return obstacle == null ? selector(asked.selectors(), variable, null) : obstacle;
    }

    private @Nullable Obstacle selector(List<String> selectors, DeviceVariable variable, @Nullable String deviceClass) {
        for (int i = 0; i < selectors.size(); i++) {
            if (!matches(selectors.get(i), variable)) {
                return new Obstacle.NotSelected(deviceClass, i, selectors.get(i));
            }
        }
        return null;
    }

    boolean selects(DeviceClass deviceClass, DeviceId id, ClusterState cluster) {
        DeviceVariable variable = variable(id, cluster);
        return variable != null && selector(deviceClass.selectors(), variable, deviceClass.name()) == null;
    }

    /** Treats an expression that fails as a match: the scheduler did not evaluate it. */
    private boolean matches(String expression, DeviceVariable variable) {
        try {
            return compiled.computeIfAbsent(expression, Reclassified::compile)
                    .map(one -> one.matches(variable))
                    .orElse(true);
        } catch (ExpressionException e) {
            return true;
        }
    }

    private static Optional<DeviceSelector> compile(String expression) {
        try {
            return Optional.of(DeviceSelector.compile(expression));
        } catch (ExpressionException e) {
            return Optional.empty();
        }
    }

    private static @Nullable DeviceVariable variable(DeviceId id, ClusterState view) {
        for (Slice slice : view.slices(new PoolId(id.driver(), id.pool()))) {
            for (Device device : slice.devices()) {
                if (device.name().equals(id.device())) {
                    return new DeviceVariable(id.driver(), device, true);
                }
            }
        }
        return null;
    }
}
