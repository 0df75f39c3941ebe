package io.github.wheelmq.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BinaryTest {
    @TempDir
    Path dir;

    @Test
    void withoutABinary_theErrorSaysWhatToDo() {
        WheelMQException e = assertThrows(WheelMQException.class, () -> Binary.find(null, null, "", dir));
        assertEquals("start", e.kind());
        for (String way : new String[] {"wheelmq.binary", "WHEELMQ_BIN", "PATH"}) {
            assertTrue(e.getMessage().contains(way), e.getMessage());
        }
    }

    @Test
    void settingThatNamesNoProgram_isNamed() {
        Path none = dir.resolve("none");
        WheelMQException e = assertThrows(WheelMQException.class, () -> Binary.find(none.toString(), null, "", dir));
        assertTrue(e.getMessage().contains("system property wheelmq.binary") && e.getMessage().contains(none.toString()), e.getMessage());
        e = assertThrows(WheelMQException.class, () -> Binary.find("", dir.toString(), "", dir));
        assertTrue(e.getMessage().contains("environment variable WHEELMQ_BIN"), e.getMessage());
    }

    @Test
    void propertyComesBeforeEnvironmentBeforePath() throws IOException {
        Path first = program("first");
        Path second = program("second");
        Path third = program("wheelmq");
        assertEquals(first, Binary.find(first.toString(), second.toString(), dir.toString(), dir));
        assertEquals(second, Binary.find(null, second.toString(), dir.toString(), dir));
        assertEquals(third, Binary.find(null, null, "/nowhere:" + dir, dir));
    }

    @Test
    void checkout_isFoundFromBelow() throws IOException {
        Path below = Files.createDirectories(dir.resolve("java/module"));
        Files.writeString(dir.resolve("java/go.mod"), "module example.com/other\n");
        assertEquals(Optional.empty(), Binary.checkout(below));
        Files.writeString(dir.resolve("go.mod"), "module github.com/wheelmq/wheelmq\n\ngo 1.26\n");
        assertEquals(Optional.of(dir), Binary.checkout(below));
    }

    @Test
    void checkout_isBuiltWhenThereIsNoBinary() throws Exception {
        Path built = Binary.find(null, null, "", Path.of("").toAbsolutePath());
        Process version = new ProcessBuilder(built.toString(), "version").start();
        assertTrue(new String(version.getInputStream().readAllBytes(), StandardCharsets.UTF_8).startsWith("wheelmq "));
        assertEquals(0, version.waitFor());
        assertEquals(built, Binary.find(null, null, "", Path.of("").toAbsolutePath()));
    }

    @Test
    void programThatDoesNotServe_isShownWithWhatItSaid() throws IOException {
        Path broken = program("broken");
        Files.writeString(broken, "#!/bin/sh\necho this is not it >&2\nexit 3\n");
        WheelMQException e = assertThrows(WheelMQException.class, () -> WheelMQ.builder().binary(broken).start());
        assertEquals("start", e.kind());
        assertTrue(e.getMessage().contains("exit code 3") && e.getMessage().contains("this is not it"), e.getMessage());
    }

    private Path program(String name) throws IOException {
        Path file = Files.createFile(dir.resolve(name));
        assertTrue(file.toFile().setExecutable(true));
        return file;
    }
}
