// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.nvidia.sharing;

import io.dra4j.api.DriverContext;
import io.dra4j.api.claim.ClaimRef;
import io.dra4j.api.claim.ProviderState;
import io.dra4j.nvidia.state.ClaimRecorder;
import io.dra4j.nvidia.state.SharingRecord;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The context of one group, whose record it changes. */
record GroupContext(ClaimRef claim, String group, ClaimRecorder recorder, DriverContext runtime)
        implements SharingContext {

    private static final Logger LOG = LoggerFactory.getLogger(GroupContext.class);

    @Override
    public Instant deadline() {
        return recorder.deadline();
    }

    @Override
    public void record(ProviderState state) {
        change(one -> one.withState(state));
    }

    @Override
    public void release(String target) {
        change(one -> one.without(target));
    }

    /** A group without a record has changed nothing. */
    private void change(UnaryOperator<SharingRecord> changed) {
        Optional<SharingRecord> recorded = recorder.state().sharing().stream()
                .filter(one -> one.group().equals(group))
                .findFirst();
        recorded.map(changed).ifPresent(recorder::record);
    }

    @Override
    public List<HeldSharing> others(String target) {
        return SharedClaims.others(runtime.held(), target, group, claim, recorder);
    }

    @Override
    public Duration left() {
        Duration left = Duration.between(runtime.clock().instant(), deadline());
        return left.isNegative() ? Duration.ZERO : left;
    }

    @Override
    public void notice(String device, String message) {
        LOG.atWarn().addKeyValue("claim", claim).addKeyValue("device", device).log(message);
        runtime.notice(device, message);
    }
}
