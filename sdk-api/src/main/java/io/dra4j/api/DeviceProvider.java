// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.api;

import io.dra4j.api.claim.AllocatedClaim;
import io.dra4j.api.claim.ConfigType;
import io.dra4j.api.claim.HeldClaim;
import io.dra4j.api.claim.PreparedClaim;
import io.dra4j.api.device.Inventory;
import io.dra4j.api.metrics.DeviceMeter;
import java.util.List;
import java.util.Optional;

/**
 * The one interface that a vendor implements: which devices exist, and how they are prepared for claims.
 *
 * <p>The runtime does the rest: it registers the driver with the kubelet, publishes the inventory,
 * reads claims, writes CDI specs, and remembers what is prepared across crashes and reboots. Its
 * promises:
 *
 * <ul>
 *   <li><b>Order.</b> {@link #start} is called first and once, {@link #close} last and once; {@link #configTypes} may
 *       be called at any time, even without a start, and so may {@code close}. The commands {@code doctor} and {@code
 *       audit} call {@link #inventory} without a start, unless the program gives them another way to read devices.
 *   <li><b>Threads.</b> {@link #prepare} and {@link #unprepare} run in parallel for different claims and never at the
 *       same time for one claim; if the driver is built as serialized, only one such call runs at a time on the whole
 *       node. {@link #inventory} runs on a dedicated thread, {@link #restartReason} on any, {@link #meter} on threads
 *       for metrics. No thread is ever interrupted.
 *   <li><b>Processes.</b> A rolling update runs two processes of the driver, and the kubelet may call either for any
 *       claim. What a provider keeps in memory about claims is outdated once the other process has prepared one: the
 *       provider asks {@link DriverContext#held} in each call, and makes choices that must differ between claims under
 *       {@link DriverContext#lock}.
 *   <li><b>Idempotence.</b> After a crash the runtime may call {@code unprepare} again for a half-finished claim, any
 *       number of times. It calls {@code prepare} again only after an {@code unprepare} of the claim has returned,
 *       unless its records are gone because its state directory was deleted.
 *   <li><b>Failure.</b> A method that fails throws. The message of a {@link io.dra4j.api.error.DraException}, such as a
 *       {@link io.dra4j.api.error.PrepareException}, is for the pod's owner; any other exception is logged, and the
 *       owner learns only that the driver failed.
 * </ul>
 *
 * @see <a
 *     href="https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/4381-dra-structured-parameters">
 *     KEP-4381</a>
 */
public interface DeviceProvider extends AutoCloseable {

    /**
     * Names the kinds of opaque configuration that the driver understands.
     *
     * <p>It must work without a start, because an admission webhook and an offline check also call it. An entry for
     * this driver of any other kind is an error in the claim.
     *
     * @return the kinds, each apiVersion and kind at most once, and each with a Java type of its own that is not a
     *     supertype of another's, because {@link io.dra4j.api.claim.AllocatedDevice#config} finds a configuration by the
     *     type of its value; the same on every call
     */
    default List<ConfigType<?>> configTypes() {
        return List.of();
    }

    /**
     * Starts the provider; {@link DriverContext#held} lists the claims that survived a restart.
     *
     * <p>The driver is not registered yet, and nothing is prepared or unprepared before the method
     * returns.
     *
     * @param context the runtime's services, valid until {@link #close}
     * @throws Exception if the driver can't run on this node; it then does not start
     */
    default void start(DriverContext context) throws Exception {}

    /**
     * Returns everything that the driver offers now.
     *
     * <p>It is called at the start, after {@link DriverContext#inventoryChanged}, and periodically. Unknown is not the
     * same as empty: if the hardware can't be read, throw; what is already published then stays, and the runtime tries
     * again. A single device that can't be offered is {@linkplain Inventory#leftOut left out}, with the reason.
     *
     * @return a full snapshot
     * @throws Exception if the devices can't be read
     */
    Inventory inventory() throws Exception;

    /**
     * Prepares a claim: makes its devices usable, and returns what its containers receive.
     *
     * <p>It must be idempotent: for equal input it does the work once and returns an equal result. If it throws, the
     * runtime calls {@link #unprepare} to undo what was done. A checkpointed state remains the state of the claim
     * unless the result has one.
     *
     * @param claim the claim, with only the devices of this driver, at least one
     * @param context the deadline, and the checkpoint of what is about to be done to hardware
     * @return what the containers receive
     * @throws Exception if the claim can't be prepared
     */
    PreparedClaim prepare(AllocatedClaim claim, ClaimContext context) throws Exception;

    /**
     * Returns whether preparing a claim changes nothing except what it returns.
     *
     * <p>For such a claim the runtime waits for the disk once instead of twice: after a power failure before the
     * results are on the disk, the record that preparation began may be lost, and {@link #unprepare} is never called
     * for it. So the provider must not create files, processes or network objects, or change settings of hardware or
     * kernel, for the claim. The runtime itself writes the CDI edits and the device statuses of the results, and
     * removes them after a power failure. If only the process crashes, {@code unprepare} is called as usual.
     *
     * <p>For such a claim {@link #prepare} neither {@linkplain ClaimContext#checkpoint checkpoints} nor returns a
     * state: the runtime refuses both, and the claim is not prepared.
     *
     * <p>This method is called before each {@code prepare}, on any thread and in parallel, even while the provider is
     * suspended. It must decide from the claim and from memory, without querying the hardware. If it throws, the claim
     * is refused.
     *
     * @param claim the claim, as {@code prepare} gets it next
     * @return false by default
     */
    default boolean changesNothing(AllocatedClaim claim) {
        return false;
    }

    /**
     * Unprepares a claim in any phase: releases its devices.
     *
     * <p>It must be idempotent and succeed if there is nothing to do. It never needs the API
     * server: the claim's object may be gone. If it throws, the claim stays held, and the runtime
     * tries again when the kubelet does.
     *
     * @param claim the claim, with the last state that was checkpointed or returned
     * @param context the deadline, and the checkpoint of what is about to be done to hardware
     * @throws Exception if anything of the claim may remain
     */
    void unprepare(HeldClaim claim, ClaimContext context) throws Exception;

    /**
     * Returns why the process must be restarted; empty if no restart is needed.
     *
     * <p>Liveness probes ask it: while there is a reason, they fail, and the kubelet restarts the container, each time
     * after a longer wait. A provider that ended the process itself would cut off calls, and no Event would give the
     * reason. This method is for a state of the process, for instance a library that can't be opened; a broken device
     * is not a reason, because a restart does not repair it.
     *
     * <p>It is called on any thread, many times and in parallel, after {@link #start} has returned; one last call may
     * still be running when {@link #close} is called. It must return immediately and not query the hardware: a probe
     * without an answer within about a second also fails. An exception is logged and counts as no reason.
     *
     * @return a sentence for admins, without parts that change from call to call
     */
    default Optional<String> restartReason() {
        return Optional.empty();
    }

    /**
     * Releases the hardware for maintenance.
     *
     * <p>It closes everything that would keep an admin from resetting a device or unloading its kernel module. It is
     * called when all devices of the node are in maintenance and no claim holds one, while no other call except {@link
     * #restartReason} runs. Until {@link #resume}, neither {@link #inventory} nor {@link #prepare} nor {@link
     * #unprepare} nor {@link #meter} is called, and threads of the provider must leave the hardware alone. A provider
     * that keeps nothing open has nothing to do.
     *
     * <p>It is called on a dedicated thread. A call that takes longer than half a minute is reported as hanging;
     * nothing is prepared, read or resumed before it returns.
     *
     * @throws Exception if something could not be closed; the runtime tries again
     */
    default void suspend() throws Exception {}

    /**
     * Starts using the hardware again, which may have changed; the inventory is read next.
     *
     * @throws Exception if the hardware can't be used; the runtime tries again when it needs it
     */
    default void resume() throws Exception {}

    /**
     * Opens a meter for the devices of prepared claims, for one scrape of the metrics.
     *
     * <p>It is called after {@link #start} has returned, once for each scrape that has a device to measure: the values
     * of a device are cached for five seconds. One last meter may still be in use when {@link #close} is called. If
     * opening takes longer than a second, or throws, claims and devices are served without values, and the failure is
     * counted.
     *
     * @return the meter, which is closed when the scrape ends
     * @throws Exception if nothing can be measured now
     */
    default DeviceMeter meter() throws Exception {
        return DeviceMeter.NONE;
    }

    /**
     * Closes the provider; prepared claims stay prepared, because their containers keep running.
     *
     * <p>It may be called without a start, or after a failed one: some programs only ask a provider for its
     * configuration types or its devices, and a driver that can't start closes its provider. An exception that {@code
     * close} throws after a failed start is not reported separately. The runtime waits about two seconds for calls of
     * {@link #inventory}, {@link #prepare} and {@link #unprepare} in progress: one that takes longer may still run.
     *
     * <p>It declares no checked exception: otherwise, javac would warn in each implementation that {@code close} might
     * be interrupted. Exceptions are logged.
     */
    @Override
    default void close() {}
}
