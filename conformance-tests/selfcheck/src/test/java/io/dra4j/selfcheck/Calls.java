// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.selfcheck;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** A call of the kubelet, in any version: one result for each claim. */
class Calls {

    final BareDriver driver = Parts.driver();
    final ClaimWork work = driver.parts.make(ClaimWork.class);

    /** The work for calls of a version. */
    ClaimWork work(String version) {
        return work;
    }

    Map<String, ClaimOutcome> prepare(String version, List<ClaimId> claims) {
        Map<String, ClaimOutcome> answers = new LinkedHashMap<>();
        for (ClaimId claim : claims) {
            answers.computeIfAbsent(claim.uid(), uid -> prepare(version, claim));
        }
        answers.values().forEach(a -> driver.counters.count("prepare", a.error().isEmpty()));
        return answers;
    }

    ClaimOutcome prepare(String version, ClaimId claim) {
        return work(version).prepare(claim);
    }

    /** Returns the errors; an empty one is none. */
    Map<String, String> unprepare(String version, List<ClaimId> claims) {
        Map<String, String> answers = new LinkedHashMap<>();
        for (ClaimId claim : claims) {
            answers.computeIfAbsent(claim.uid(), uid -> work(version).unprepare(claim));
        }
        answers.values().forEach(error -> driver.counters.count("unprepare", error.isEmpty()));
        return answers;
    }

    static <T> void answer(StreamObserver<T> response, Supplier<T> work) {
        T answer;
        try {
            answer = work.get();
        } catch (StatusRuntimeException e) {
            response.onError(e);
            return;
        } catch (RuntimeException e) {
            response.onError(Status.UNKNOWN.withDescription(e.getMessage()).asRuntimeException());
            return;
        }
        try {
            response.onNext(answer);
            response.onCompleted();
        } catch (StatusRuntimeException e) {
            Life.current().log("No one waits for the answer any more: " + e.getMessage());
        }
    }
}
