// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.DeviceId;
import java.util.Map;

/**
 * The obstacles of a request, or of one of its subrequests.
 *
 * @param claim its namespace and name
 * @param request its name, with the subrequest's behind a slash
 * @param wanted the number of devices
 * @param most the largest number that could be had together
 * @param devices the first check that failed, by device, in the order in which they were tried
 */
public record RequestObstacles(String claim, String request, long wanted, int most, Map<DeviceId, Obstacle> devices) {}
