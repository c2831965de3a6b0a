// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator;

import io.dra4j.allocator.model.Claim;
import io.dra4j.allocator.model.DeviceClass;
import io.dra4j.allocator.model.DeviceRequest;
import io.dra4j.allocator.model.SubRequest;
import java.util.List;

/**
 * A validated alternative of a request.
 *
 * @param index the index among all plans of the attempt
 * @param all the devices to take, in the mode {@code All}; otherwise empty
 */
record Plan(
        int index,
        int claimIndex,
        Claim claim,
        DeviceRequest request,
        SubRequest asked,
        DeviceClass deviceClass,
        long count,
        List<Candidate> all) {

    boolean isAll() {
        return asked.mode().equals(SubRequest.ALL);
    }

    String resultName() {
        return request.nameOf(asked);
    }

    /** Returns the start of messages about this alternative. */
    String subject() {
        return subject(claim, asked.name());
    }

    /** Returns the start of messages about a request. */
    static String subject(Claim claim, String request) {
        return "claim %s, request %s: ".formatted(claim.fullName(), request);
    }

    Plan withAll(List<Candidate> devices) {
        return new Plan(index, claimIndex, claim, request, asked, deviceClass, devices.size(), devices);
    }
}
