// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.nvidia.install.SmiException;
import io.dra4j.nvidia.sharing.Holders.HeldSharing;
import io.dra4j.nvidia.state.ClaimRecorder;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context in which the sharing of one group is applied or undone; used by the call's thread. */
public final class SharingContext {

    private static final Logger LOG = LoggerFactory.getLogger(SharingContext.class);

    private final ClaimRef claim;
    private final String group;
    private final ClaimRecorder recorder;
    private final DriverContext runtime;
    private boolean isLeft;

    SharingContext(ClaimRef claim, String group, ClaimRecorder recorder, DriverContext runtime) {
        this.claim = claim;
        this.group = group;
        this.recorder = recorder;
        this.runtime = runtime;
    }

    public ClaimRef claim() {
        return claim;
    }

    /**
     * Returns the timeout of a step: it ends a second before the kubelet abandons the call, which has to be answered.
     *
     * @param longest the timeout of a step if the call has enough time
     */
    public Duration timeout(Duration longest) {
        Duration left =
                Duration.between(runtime.clock().instant(), recorder.deadline()).minus(Duration.ofSeconds(1));
        return left.compareTo(longest) > 0 ? longest : left.isNegative() ? Duration.ZERO : left;
    }

    /**
     * Records, durably, that the group no longer has a part in a target.
     *
     * @param target the UUID of a GPU or MIG device
     */
    public void release(String target) {
        recorder.state().sharing().stream()
                .filter(one -> one.group().equals(group)) // without a record, the group has changed nothing
                .findFirst()
                .ifPresent(one -> recorder.record(one.without(target)));
    }

    /**
     * Returns the other groups with a part in a target: of other claims, and of this claim.
     *
     * @throws io.dra4j.api.error.DraException if the record of a claim can't be read
     */
    public List<HeldSharing> others(String target) {
        Stream<HeldSharing> ofClaim = recorder.state().sharing().stream()
                .filter(one -> !one.group().equals(group))
                .map(one -> new HeldSharing(claim, one));
        Stream<HeldSharing> ofOthers = runtime.held().stream()
                .filter(one -> !one.ref().uid().equals(claim.uid()))
                .flatMap(HeldSharing::of);
        return Stream.concat(ofClaim, ofOthers)
                .filter(one -> one.record().targets().contains(target))
                .toList();
    }

    /**
     * Restores settings of a GPU. A failure does not hold up the claim: it is reported and retried by
     * {@link SharingStrategy#clean}, and until then the GPU's devices have a taint.
     *
     * @param work returns what the cluster's admins should know; empty for nothing
     */
    public void putBack(String gpu, Supplier<Optional<String>> work) {
        String form = "Claim %s/%s had shared GPU %s, whose previous settings are not restored: %s";
        try {
            work.get().ifPresent(what -> notice(gpu, form.formatted(claim.namespace(), claim.name(), gpu, what)));
        } catch (SmiException e) {
            String what = e.getMessage() + "; it will be retried, and until then its devices are tainted";
            isLeft = true;
            notice(gpu, form.formatted(claim.namespace(), claim.name(), gpu, what));
        }
    }

    boolean isLeft() {
        return isLeft;
    }

    /**
     * Informs administrators, by a log line and an Event, of what the claim's owner may not expect.
     *
     * @param device the name of the device that it is about
     * @param message one or two sentences, which name the claim
     */
    public void notice(String device, String message) {
        LOG.atWarn().addKeyValue("claim", claim).addKeyValue("device", device).log(message);
        runtime.notice(device, message);
    }
}
