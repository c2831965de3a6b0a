// Copyright The dra4j Authors
// SPDX-License-Identifier: Apache-2.0
package io.dra4j.allocator.cel;

import com.fasterxml.jackson.databind.JsonNode;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import io.dra4j.allocator.model.Device;
import io.dra4j.allocator.model.InvalidObjectException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A compiled expression of a class or a request, which a scheduler evaluates on devices. */
public final class DeviceSelector {
    private final CelRuntime.Program program;

    private DeviceSelector(CelRuntime.Program program) {
        this.program = program;
    }

    /** Compiles an expression with the features of all releases, as for stored objects. */
    public static DeviceSelector compile(String expression) {
        Compiler compiler = Stored.COMPILER;
        return new DeviceSelector(compiler.program(compiler.compile(expression)));
    }

    /** Created when the first expression is compiled. */
    private static final class Stored {
        static final Compiler COMPILER = new Compiler(Environment.STORED);
    }

    /**
     * Returns whether a device may be allocated.
     *
     * @param driver the driver of the slice, which is the domain of names without one
     */
    public boolean matches(String driver, JsonNode device) {
        try {
            return matches(new DeviceVariable(driver, Device.of(device), true));
        } catch (InvalidObjectException e) {
            throw failed(e.getMessage());
        }
    }

    /** Returns whether a device may be allocated. */
    public boolean matches(DeviceVariable device) {
        try {
            if (program.eval(Map.of(Environment.DEVICE, device.fields())) instanceof Boolean result) {
                return result;
            }
        } catch (CelEvaluationException e) {
            throw failed(Messages.ofRuntime(e));
        } catch (IllegalArgumentException e) {
            throw failed(e.getMessage());
        }
        throw failed("the expression is neither true nor false");
    }

    private static ExpressionException failed(@Nullable String problem) {
        return new ExpressionException("CEL runtime error: " + problem);
    }
}
