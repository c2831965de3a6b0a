// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.play;

import io.dra4j.testkit.kubelet.ClaimAnswer;
import io.dra4j.testkit.kubelet.ClaimAnswer.PreparedDevice;
import java.util.List;
import java.util.stream.Stream;

/**
 * What drivers answered of one claim.
 *
 * @param all the answers, of each driver that has devices in the claim, in the drivers' order
 */
record Answers(List<ClaimAnswer> all) {

    Answers {
        all = List.copyOf(all);
    }

    static Answers of(ClaimAnswer one) {
        return new Answers(List.of(one));
    }

    Answers and(Answers others) {
        return new Answers(Stream.concat(all.stream(), others.all.stream()).toList());
    }

    List<PreparedDevice> devices() {
        return all.stream().flatMap(answer -> answer.devices().stream()).toList();
    }

    /** How long they are on the wire. */
    int bytes() {
        return all.stream().mapToInt(answer -> answer.wire().length() / 2).sum();
    }
}
