// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.conformance.rules;

import io.dra4j.conformance.context.Measurements;
import io.dra4j.conformance.context.TestContext;
import io.dra4j.conformance.context.Timeouts;
import io.dra4j.conformance.context.Violation;
import io.dra4j.conformance.probes.RegistrationSocket;
import io.dra4j.testkit.kubelet.PluginInfo;
import io.dra4j.testkit.kubelet.PrepareMessages;
import io.dra4j.testkit.kubelet.RawCalls;
import io.dra4j.testkit.kubelet.RegistrationCalls;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** Rules for a driver's registration with the kubelet. */
@ExecutionGroup.On(ExecutionGroup.CALLS)
record RegistrationRules(TestContext context) {

    private static final int TIMES = 3;
    private static final Duration DEATH = Duration.ofSeconds(3);

    @Rule(value = "DRA-REG-04", unregistered = true)
    void theKubeletMayNotifyAnyStatus() {
        RegistrationSocket socket = RegistrationSocket.of(context);
        RegistrationCalls.Info before = socket.info();
        try (RegistrationCalls calls = new RegistrationCalls(socket.path())) {
            for (int i = 0; i < TIMES; i++) {
                notify(calls, "");
            }
            refuse(calls);
        }
        RegistrationCalls.Info after = afterRefusal(socket);
        Violation.unless(before.equals(after))
                .because(
                        "GetInfo changed from %s to %s when the driver was notified of its registration",
                        before, after);
        servesStill(socket.service());
    }

    private void notify(RegistrationCalls calls, String error) {
        try {
            timed(calls, error);
        } catch (RegistrationCalls.Failed e) {
            throw new Violation("NotifyRegistrationStatus failed: " + e.getMessage());
        }
    }

    private void timed(RegistrationCalls calls, String error) throws RegistrationCalls.Failed {
        Measurements.Wait wait = context.measurements().begin("slowest NotifyRegistrationStatus", Timeouts.NOTIFY);
        try {
            calls.notify(error, Timeouts.NOTIFY);
            wait.end(true);
        } catch (RegistrationCalls.Failed e) {
            wait.end(!isSilence(e));
            throw e;
        }
    }

    private static boolean isSilence(RegistrationCalls.Failed failure) {
        return String.valueOf(failure.getMessage()).startsWith("DEADLINE_EXCEEDED");
    }

    /** Here an error is an answer, too; silence is not. */
    private void refuse(RegistrationCalls calls) {
        try {
            timed(calls, "the conformance suite refuses the driver for a moment");
        } catch (RegistrationCalls.Failed e) {
            Violation.unless(!isSilence(e))
                    .because("NotifyRegistrationStatus was not answered within %s", Timeouts.NOTIFY);
        }
    }

    private RegistrationCalls.Info afterRefusal(RegistrationSocket socket) {
        try {
            return socket.info();
        } catch (Violation e) {
            context.driver().current().awaitExit(context.timeouts().times(DEATH));
            Violation.unless(context.driver().isAlive())
                    .because(
                            "the driver ended when it was notified that it is not registered: %s",
                            context.driver().fate());
            throw e;
        }
    }

    private static void servesStill(Path service) {
        try (RawCalls calls = new RawCalls(service)) {
            RawCalls.Response answer = calls.call(PrepareMessages.method(PluginInfo.Service.V1), new byte[0]);
            Violation.unless(!answer.code().equals("UNAVAILABLE"))
                    .because("the service is gone after the driver was notified that it is not registered: %s", answer);
        }
    }

    @Rule(value = "DRA-REG-05", unregistered = true)
    void theKubeletMayCallTheSocketsWhatItWants() {
        RegistrationSocket socket = RegistrationSocket.of(context);
        Path service = context.place().outside(socket.info("localhost").service(socket.path()));
        for (String authority : authorities(socket.path())) {
            socket.info(authority);
        }
        for (String authority : authorities(service)) {
            try (RawCalls calls = new RawCalls(service, authority)) {
                RawCalls.Response answer =
                        calls.call(PrepareMessages.method(context.calls().service()), new byte[0]);
                context.transcript().note("prepare as " + authority + " -> " + answer);
                Violation.unless(List.of("OK", "UNIMPLEMENTED").contains(answer.code()))
                        .because("a prepare with :authority %s failed: %s", authority, answer);
            }
        }
    }

    private static List<String> authorities(Path socket) {
        return List.of(
                RegistrationCalls.kubeletAuthority(socket),
                "localhost",
                "dra-conformance.example.com:4711",
                "127.0.0.1");
    }

    @Rule("DRA-REG-06")
    void aNewKubeletReceivesTheSame() throws InterruptedException {
        RegistrationCalls.Info before = RegistrationSocket.of(context).info();
        context.restartKubelet();
        Violation.unless(context.driver().registersAgain())
                .because(
                        "a new kubelet could not register the driver: %s",
                        context.kubelet().events());
        RegistrationCalls.Info after = RegistrationSocket.of(context).info();
        Violation.unless(before.equals(after)).because("GetInfo changed from %s to %s", before, after);
        context.devices().usable().stream()
                .findFirst()
                .map(context.claims()::allocate)
                .ifPresent(context.calls()::prepared);
    }
}
