package ${package};

import io.dra4j.runtime.DriverMain;

/** The program: {@code java -jar target/${artifactId}.jar --help} prints its options. */
public final class ${className}Driver {

    private ${className}Driver() {}

    public static void main(String[] args) {
        DriverMain.run(args, "${driverName}", options -> new ${className}Provider(options.nodeName()));
    }
}
